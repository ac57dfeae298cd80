import { signFault } from './gbnf-tokens.ts';

/** A repetition takes memory for each time; one of more than four digits. */
const HUGE_COUNT = /\{\s*(?:\d+\s*,\s*)?(\d{5,})/;
const MAX_REPEAT = 9_999;
const MAX_GROUPS = 200;
/** What may hold any character: texts, sets of characters, remarks. One without an end takes all that follows. */
const QUOTED = /"(?:\\[\s\S]?|[^"\\])*(?:"|$)|\[(?:\\[\s\S]?|[^\]\\])*(?:\]|$)|#[^\r\n]*/g;
const COUNTS = /\{\s*(\d+)\s*,\s*(\d+)\s*\}/g;

/**
 * What keeps a caller's grammar in GBNF from being given to llama.cpp, which would end the process or never come back
 * over it; null when nothing does. What is no grammar at all is left to llama.cpp, which says so.
 */
export function gbnfFault(grammar: string): string | null {
  // To llama.cpp the grammar ends there, so that what follows would be looked at in vain.
  if (grammar.includes('\0')) return 'it holds the character 0';
  const bare = grammar.replace(QUOTED, '');
  const count = HUGE_COUNT.exec(bare)?.[1];
  if (count !== undefined) return `it repeats ${count} times; ${MAX_REPEAT} is the most`;
  // llama.cpp reckons how many more there may be without a sign: fewer than none are all the numbers it has.
  const turned = [...bare.matchAll(COUNTS)].find(([, least, most]) => Number(most) < Number(least));
  if (turned !== undefined) return `${turned[0]} repeats at most fewer times than at least`;
  // A token that ends the answer or is none, and groups without measure, would end the engine.
  if (bare.includes('<')) return 'tokens can not be named; write their text';
  if (depthOf(bare) > MAX_GROUPS) return `its groups are nested deeper than ${MAX_GROUPS}`;
  // Where no token fits, llama.cpp takes one that does not and fails over it.
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
