/** Maximum characters that are spoken at once. */
const MAX_LENGTH = 400;
/** Minimum characters; shorter sentences are merged with the next one, except the first, for low latency. */
const MIN_LENGTH = 24;

/**
 * Matches the end of a sentence: a closing mark with its quotes and following space, or a mark of scripts
 * without spaces. A run of marks matches from its first one only, which avoids quadratic time.
 */
const END = /(?<![.!?…])[.!?…]+["'”’)\]]*(?=\s)|[。！？]+[”’」』）]*|\n+/gu;
/** Abbreviations whose dot does not end a sentence. */
const SHORT_FORM = /(?:^|\s)(?:Mr|Mrs|Ms|Dr|Prof|St|Nr|No|vs|etc|e\.g|i\.e|z\.B|d\.h|bzw|ca|\p{L})\.$/iu;

export interface Sentences {
  /** Text that was not emitted yet. */
  readonly rest: string;
  /** Whether nothing was emitted yet. */
  readonly first: boolean;
}

export const NO_SENTENCE: Sentences = { rest: '', first: true };

/** Adds text and returns the complete sentences. All sentences and the rest, in order, are the text. */
export function addText(state: Sentences, text: string): [Sentences, string[]] {
  let { rest, first } = state;
  rest += text;
  const done: string[] = [];
  for (let at = cut(rest, first); at > 0; at = cut(rest, first)) {
    done.push(rest.slice(0, at));
    rest = rest.slice(at);
    first = false;
  }
  return [{ rest, first }, done];
}

/** Returns the end of the first sentence, or 0 while it is unknown. */
function cut(text: string, first: boolean): number {
  const least = first ? 2 : MIN_LENGTH;
  // One character more than the maximum is enough; scanning only this part keeps long texts linear.
  for (const match of text.slice(0, MAX_LENGTH + 1).matchAll(END)) {
    const end = match.index + match[0].length;
    if (end > MAX_LENGTH) break;
    if (end >= least && !SHORT_FORM.test(text.slice(0, end))) return end;
  }
  return text.length > MAX_LENGTH ? breakBefore(text, MAX_LENGTH) : 0;
}

/** Returns the last comma or space before `limit`, else the limit, never inside a surrogate pair. */
function breakBefore(text: string, limit: number): number {
  const comma = Math.max(...[',', ';', ':'].map((mark) => text.lastIndexOf(`${mark} `, limit - 2))) + 1;
  const at = comma > limit / 2 ? comma : text.lastIndexOf(' ', limit - 1) + 1;
  if (at > 1) return at;
  const code = text.charCodeAt(limit - 1);
  return code >= 0xd800 && code < 0xdc00 ? limit - 1 : limit;
}

/** Returns a sentence for the voice without Markdown; null when it contains nothing to speak. */
export function speakable(text: string): string | null {
  const plain = text
    .replaceAll(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/[*_`#~|>]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /[\p{L}\p{N}]/u.test(plain) ? plain : null;
}
