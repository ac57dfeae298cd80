/** The probability of one token of an answer. */
export interface TokenLogprob extends TokenProbability {
  /** The likeliest tokens at this place, best first. */
  top: TokenProbability[];
}

export interface TokenProbability {
  token: string;
  /** Natural logarithm over the whole vocabulary. */
  logprob: number;
}

/** What clients read for a probability of zero, which has no logarithm in JSON. */
const IMPOSSIBLE = -9999;

/** The entry of `token`, whose place gave these probabilities (best first). */
export function tokenLogprob(
  token: number,
  probabilities: ReadonlyMap<number, number>,
  most: number,
  spell: (token: number) => string,
): TokenLogprob {
  const top: TokenProbability[] = [];
  for (const [id, probability] of probabilities) {
    if (top.length >= most) break;
    top.push({ token: spell(id), logprob: logarithm(probability) });
  }
  return { token: spell(token), logprob: logarithm(probabilities.get(token) ?? 0), top };
}

const logarithm = (probability: number): number =>
  probability > 0 ? Math.max(IMPOSSIBLE, Math.log(probability)) : IMPOSSIBLE;

/** Holds each token's entry until its text is shown, so that a cut text has no entries of what was cut. */
export class LogprobQueue {
  readonly #waiting: { entry: TokenLogprob; start: number }[] = [];
  #length = 0;
  #shown = 0;

  /** `text` is what the token added; empty while its character is still cut. */
  add(entry: TokenLogprob, text: string): void {
    this.#waiting.push({ entry, start: this.#length });
    this.#length += text.length;
  }

  /** The entries of the tokens in `text`, which is shown now. */
  flushText(text: string): TokenLogprob[] {
    this.#shown += text.length;
    const end = this.#waiting.findIndex(({ start }) => start >= this.#shown);
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end).map(({ entry }) => entry);
  }

  /** What is left at the end of an answer that nothing cut. */
  flushAll(): TokenLogprob[] {
    return this.#waiting.splice(0).map(({ entry }) => entry);
  }
}

/** Of a chat: `choices[].logprobs`. */
export function chatLogprobs(entries: readonly TokenLogprob[]): object {
  const spelled = ({ token, logprob }: TokenProbability) => ({ token, logprob, bytes: bytes(token) });
  return {
    content: entries.map((entry) => ({ ...spelled(entry), top_logprobs: entry.top.map(spelled) })),
    refusal: null,
  };
}

/** Of a completion: four lists side by side; `offset` is where in the text of the choice they begin. */
export function textLogprobs(entries: readonly TokenLogprob[], offset: number): object {
  let at = offset;
  const offsets = entries.map(({ token }) => {
    const start = at;
    at += token.length;
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

/** The UTF-8 bytes of a token; null for one that is only a part of a character. */
function bytes(token: string): number[] | null {
  return token.includes('\ufffd') ? null : [...Buffer.from(token)];
}
