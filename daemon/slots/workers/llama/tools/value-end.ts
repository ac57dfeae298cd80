import { longestOpenEnd } from '../stop-scanner.ts';

/**
 * Where a value ends, from `from` on: `at` and the `length` of the tag that ends it. Without a length it has not ended yet, and
 * what stands from `at` on may become its end. Null when nothing of the kind is there. `begun`: the value has begun before `from`.
 */
export type FindEnd = (
  text: string,
  from: number,
  started: boolean,
) => { at: number; length?: number } | null;

/** The value ends at `mark` and nowhere else. */
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
 * Where a value of Qwen3-Coder ends: at `</parameter>`, which comes misspelled, or is forgotten. Then the value ends before a
 * parameter of a name that is in `awaited`, or at the end of the whole call.
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

/** With the line break before it, which is no part of a value that ends here. */
const lineStart = (text: string, at: number, from: number): number =>
  at > from && text[at - 1] === '\n' ? at - 1 : at;

/** True for the beginning of a line, or of the value. */
const begins = (text: string, at: number, from: number, started: boolean): boolean =>
  at > from ? text[at - 1] === '\n' : !started;

const MAX_JUDGED_CHARS = 320;

/** How much of the text at `at` ends the value; null when it belongs to the value. */
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
