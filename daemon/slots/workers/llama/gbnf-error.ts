import { signFault } from './gbnf-tokens.ts';

/** A repetition count of more than four digits. Memory grows with the count. */
const HUGE_COUNT = /\{\s*(?:\d+\s*,\s*)?(\d{5,})/;
const MAX_REPEAT = 9_999;
const MAX_GROUPS = 200;
/**
 * Tokens that can contain any character: strings, character sets, comments. An unterminated one extends to
 * the end.
 */
const QUOTED = /"(?:\\[\s\S]?|[^"\\])*(?:"|$)|\[(?:\\[\s\S]?|[^\]\\])*(?:\]|$)|#[^\r\n]*/g;
const COUNTS = /\{\s*(\d+)\s*,\s*(\d+)\s*\}/g;

/**
 * Returns why a GBNF grammar of a caller must not reach llama.cpp, which would crash or hang on it. Null when
 * it is safe. Syntax errors are left to llama.cpp, which reports them.
 */
export function gbnfFault(grammar: string): string | null {
  // llama.cpp stops reading at this character, so the rest would not be checked.
  if (grammar.includes('\0')) return 'it contains the character U+0000';
  const bare = grammar.replace(QUOTED, '');
  const count = HUGE_COUNT.exec(bare)?.[1];
  if (count !== undefined) return `it repeats ${count} times; the maximum is ${MAX_REPEAT}`;
  // llama.cpp computes the difference as an unsigned number, so a maximum below the minimum becomes a huge
  // count.
  const turned = [...bare.matchAll(COUNTS)].find(([, least, most]) => Number(most) < Number(least));
  if (turned !== undefined) return `${turned[0]} has a maximum below its minimum`;
  // A token that ends the answer or does not exist, and unbounded groups, would crash the engine.
  if (bare.includes('<')) return 'token ids are not supported; write the text of the token';
  if (depthOf(bare) > MAX_GROUPS) return `its groups are nested deeper than ${MAX_GROUPS}`;
  // When no token fits, llama.cpp selects one that does not and fails.
  return signFault(
    Array.from(grammar.matchAll(QUOTED), ([part]) => part).filter((part) => !part.startsWith('#')),
  );
}

function depthOf(grammar: string): number {
  let [depth, deepest] = [0, 0];
  for (const sign of grammar) {
    if (sign === '(') deepest = Math.max(deepest, ++depth);
    else if (sign === ')') depth -= 1;
  }
  return deepest;
}
