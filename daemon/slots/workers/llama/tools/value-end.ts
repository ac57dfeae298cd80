import { longestOpenEnd } from '../stop-scanner.ts';

/**
 * Returns where a value ends, from `from` on: the position `at` and the `length` of the end tag. Without a
 * length the value continues, and the text from `at` on may become its end. Null when there is no candidate.
 * `started`: the value started before `from`.
 */
export type FindEnd = (
  text: string,
  from: number,
  started: boolean,
) => { at: number; length?: number } | null;

/** The value ends only at `mark`. */
export const exactEnd =
  (mark: string): FindEnd =>
  (text, from) => {
    const at = text.indexOf(mark, from);
    if (at >= 0) return { at, length: mark.length };
    const open = longestOpenEnd(text.slice(from), [mark]);
    return open === 0 ? null : { at: text.length - open };
  };

const STARTS = /<(\/parameter|\/function>|parameter=)/g;
const OPEN_STARTS = ['\n</parameter', '</parameter', '\n</function>', '</function>', '\n<parameter='];

/**
 * Finds the end of a Qwen3-Coder value: `</parameter>`, which models misspell or omit. If it is missing, the
 * value ends before a parameter named in `expectedNames` or at the end of the call.
 */
export function looseEnd(expectedNames: ReadonlySet<string>): FindEnd {
  return (text, from, started) => {
    STARTS.lastIndex = from;
    for (let hit = STARTS.exec(text); hit !== null; hit = STARTS.exec(text)) {
      const found = matchEnd(text, hit.index, begins(text, hit.index, from, started), expectedNames);
      if (found === 'open') return { at: lineStart(text, hit.index, from) };
      if (found !== null) return { at: hit.index, length: found };
    }
    const open = longestOpenEnd(text.slice(from), started ? OPEN_STARTS : [...OPEN_STARTS, '<parameter=']);
    return open === 0 ? null : { at: text.length - open };
  };
}

/** Includes the preceding line break, which is not part of the value. */
const lineStart = (text: string, at: number, from: number): number =>
  at > from && text[at - 1] === '\n' ? at - 1 : at;

/** True at the start of a line or of the value. */
const begins = (text: string, at: number, from: number, started: boolean): boolean =>
  at > from ? text[at - 1] === '\n' : !started;

const MAX_JUDGED_CHARS = 320;

/** Returns how many characters at `at` end the value. Null when they belong to the value. */
function matchEnd(
  text: string,
  at: number,
  begins: boolean,
  expectedNames: ReadonlySet<string>,
): number | 'open' | null {
  const rest = text.slice(at, at + MAX_JUDGED_CHARS);
  if (rest.startsWith('</parameter')) {
    const whole =
      /^<\/parameter(_?function)?[\d/]?>/.exec(rest) ?? /^<\/parameter(?=\s+<\/function>)/.exec(rest);
    if (whole !== null) return whole[0].length;
    return /^<\/parameter(_?[a-z]{0,8}[\d/]?|\s+(<[/a-z]*)?)$/.test(rest) ? 'open' : null;
  }
  if (rest.startsWith('</function>')) {
    if (/^<\/function>\s*<\/tool_call>/.test(rest)) return 0;
    return /^<\/function>\s*(<[/a-z_]*)?$/.test(rest) ? 'open' : null;
  }
  if (!begins) return null;
  const name = /^<parameter=([^<>\n]{1,256})>/.exec(rest)?.[1];
  if (name !== undefined) return expectedNames.has(name.trim()) ? 0 : null;
  return /^<parameter=[^<>\n]{0,256}$/.test(rest) ? 'open' : null;
}
