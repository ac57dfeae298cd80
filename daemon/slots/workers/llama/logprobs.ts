/** The probability of one token of an answer. */
export interface TokenLogprob extends TokenProbability {
  /** The most likely tokens at this position, best first. */
  top: TokenProbability[];
  /**
   * Characters that the token added to the text: none while its character is incomplete, one fewer than its own where
   * a tokenizer drops the first space. Absent: those of the token.
   */
  added?: number;
}

export interface TokenProbability {
  token: string;
  /** Natural logarithm over the whole vocabulary. */
  logprob: number;
  /** The bytes of a token that is only part of a character; null when they are unknown. */
  bytes?: number[] | null;
}

/** Returns the texts and bytes of tokens. */
export interface Spelling {
  spell(token: number): string;
  bytes(token: number): number[] | null;
}

/** Stands in a text for bytes that are not a character. */
const REPLACEMENT = '\ufffd';

/** Represents a probability of zero, whose logarithm JSON cannot express. */
const IMPOSSIBLE = -9999;

/** Builds the entry of `token` from the probabilities of its position (best first). */
export function tokenLogprob(
  token: number,
  probabilities: ReadonlyMap<number, number>,
  most: number,
  spelling: Spelling,
): TokenLogprob {
  const top: TokenProbability[] = [];
  for (const [id, probability] of probabilities) {
    if (top.length >= most) break;
    top.push(spelled(id, probability, spelling));
  }
  return { ...spelled(token, probabilities.get(token) ?? 0, spelling), top };
}

function spelled(id: number, probability: number, spelling: Spelling): TokenProbability {
  const token = spelling.spell(id);
  const logprob = logarithm(probability);
  return token.includes(REPLACEMENT) ? { token, logprob, bytes: spelling.bytes(id) } : { token, logprob };
}

const logarithm = (probability: number): number =>
  probability > 0 ? Math.max(IMPOSSIBLE, Math.log(probability)) : IMPOSSIBLE;

/** Holds each token's entry until its text is emitted, so that truncated text has no entries. */
export class LogprobQueue {
  readonly #waiting: { entry: TokenLogprob; start: number }[] = [];
  #length = 0;
  #shown = 0;

  /** `text` is what the token added; empty while its character is incomplete. */
  add(entry: TokenLogprob, text: string): void {
    this.#waiting.push({ entry: { ...entry, added: text.length }, start: this.#length });
    this.#length += text.length;
  }

  /** Returns the entries of the tokens in `text`, which is emitted now. */
  flushText(text: string): TokenLogprob[] {
    this.#shown += text.length;
    const end = this.#waiting.findIndex(({ start }) => start >= this.#shown);
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end).map(({ entry }) => entry);
  }

  /** Returns the remaining entries of an answer that was not truncated. */
  flushAll(): TokenLogprob[] {
    return this.#waiting.splice(0).map(({ entry }) => entry);
  }
}

const bytesOf = (token: string): number[] | null =>
  token.includes(REPLACEMENT) ? null : [...Buffer.from(token)];

/** Formats the entries of a chat: `choices[].logprobs`. */
export function chatLogprobs(entries: readonly TokenLogprob[]): object {
  const complete = ({ token, logprob, bytes = bytesOf(token) }: TokenProbability) => ({
    token,
    logprob,
    bytes,
  });
  return {
    content: entries.map((entry) => ({ ...complete(entry), top_logprobs: entry.top.map(complete) })),
    refusal: null,
  };
}

/**
 * Formats the entries of a completion as four parallel lists. `offset` is their position in the text of the
 * choice.
 */
export function textLogprobs(entries: readonly TokenLogprob[], offset: number): object {
  let at = offset;
  const offsets = entries.map(({ token, added = token.length }) => {
    const start = at;
    at += added;
    return start;
  });
  return {
    tokens: entries.map(({ token }) => token),
    token_logprobs: entries.map(({ logprob }) => logprob),
    top_logprobs: entries.map(({ top }) =>
      Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: offsets,
  };
}
