/** Longest piece that is spoken at once, in characters. */
const MAX_LENGTH = 400;
/** Shorter sentences wait for the next one, but for the first, which makes the voice start early. */
const MIN_LENGTH = 24;

/**
 * The end of a sentence: a closing mark with what belongs to it and the space after it, or a mark of scripts without spaces.
 * A row of marks is tried from its first one only: from each of them would cost the square of their number.
 */
const END = /(?<![.!?…])[.!?…]+["'”’)\]]*(?=\s)|[。！？]+[”’」』）]*|\n+/gu;
/** Words whose dot ends no sentence. */
const SHORT_FORM = /(?:^|\s)(?:Mr|Mrs|Ms|Dr|Prof|St|Nr|No|vs|etc|e\.g|i\.e|z\.B|d\.h|bzw|ca|\p{L})\.$/iu;

export interface Sentences {
  /** What has not been said yet. */
  readonly rest: string;
  /** Whether nothing has been said so far. */
  readonly first: boolean;
}

export const NO_SENTENCE: Sentences = { rest: '', first: true };

/** Takes more of a text; answers the sentences that are complete. All pieces and the rest in order are the text. */
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

/** Where the first piece of a text ends, or 0 when that is not known yet. */
function cut(text: string, first: boolean): number {
  const least = first ? 2 : MIN_LENGTH;
  // No piece is longer, and one more character tells what follows it: a long text is not read anew for each of its pieces.
  for (const match of text.slice(0, MAX_LENGTH + 1).matchAll(END)) {
    const end = match.index + match[0].length;
    if (end > MAX_LENGTH) break;
    if (end >= least && !SHORT_FORM.test(text.slice(0, end))) return end;
  }
  return text.length > MAX_LENGTH ? breakBefore(text, MAX_LENGTH) : 0;
}

/** The last comma or space before `limit`, else the limit, but never inside a character. */
function breakBefore(text: string, limit: number): number {
  const comma = Math.max(...[',', ';', ':'].map((mark) => text.lastIndexOf(`${mark} `, limit - 2))) + 1;
  const at = comma > limit / 2 ? comma : text.lastIndexOf(' ', limit - 1) + 1;
  if (at > 1) return at;
  const code = text.charCodeAt(limit - 1);
  return code >= 0xd800 && code < 0xdc00 ? limit - 1 : limit;
}

/** A piece as a voice should say it, without the marks of Markdown; null when nothing in it can be said. */
export function speakable(text: string): string | null {
  const plain = text
    .replaceAll(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/[*_`#~|>]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /[\p{L}\p{N}]/u.test(plain) ? plain : null;
}
