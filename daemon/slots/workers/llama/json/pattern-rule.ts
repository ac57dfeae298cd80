import { MAX_REPEAT, repeat } from './array-rule.ts';
import { type CharSet, has, without } from './char-set.ts';
import { parseRegex, type Regex, RegexFault, type RegexNode } from './regex.ts';
import type { RuleBook } from './rule-book.ts';
import { ImpossibleSchema } from './schema-error.ts';

/** Maximum size of a pattern after its repetitions are expanded, as a grammar does. */
const MAX_SIZE = 10_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Characters with a short escape in JSON. */
const SIGNS: readonly (readonly [number, string])[] = [
  [QUOTE, '"'],
  [BACKSLASH, '\\'],
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [12, 'f'],
  [13, 'r'],
];
const NEVER_BARE: CharSet = [
  [0, 0x1f],
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [0x7f, 0x7f],
];

/** Length limits that also apply to the string. */
export interface Lengths {
  min: number;
  max: number | null;
}

/**
 * Returns the rule for the characters between the quotes of a JSON string that matches `pattern`. Lengths are
 * supported only for a pattern that repeats one character set. Null for an unsupported pattern or combination.
 * Throws ImpossibleSchema at `at` when no length fits.
 */
export function patternRule(
  book: RuleBook,
  pattern: string,
  lengths: Lengths | null,
  at: string,
): string | null {
  try {
    const alternatives = parseRegex(pattern);
    const trees = lengths === null ? alternatives : [shortened(alternatives, lengths, at)];
    if (sum(trees.map(({ root }) => sizeOf(root))) > MAX_SIZE) throw new RegexFault('it repeats too much');
    const rules = trees.map((one) => anchored(book, one));
    return rules.length === 1 ? (rules[0] as string) : `(${rules.map((rule) => rule || '""').join(' | ')})`;
  } catch (error) {
    if (error instanceof RegexFault) return null;
    throw error;
  }
}

function anchored(book: RuleBook, { root, fromStart, toEnd }: Regex): string {
  const any = () => `${book.primitive('char')}*`;
  return [fromStart ? '' : any(), ruleOf(root), toEnd ? '' : any()].filter((part) => part !== '').join(' ');
}

function shortened(alternatives: readonly Regex[], { min, max }: Lengths, at: string): Regex {
  const [first, second] = alternatives;
  const root = first?.fromStart && first.toEnd && second === undefined ? first.root : null;
  if (root?.type !== 'repeat' || root.what.type !== 'chars')
    throw new RegexFault('it cannot be combined with a length');
  const from = Math.max(root.least, min);
  const to = root.most === null || max === null ? (root.most ?? max) : Math.min(root.most, max);
  if (to !== null && to < from) throw new ImpossibleSchema(at, 'no length fits the "pattern"');
  return { root: { ...root, least: from, most: to }, fromStart: true, toEnd: true };
}

/** Counts the characters on the longest path through the tree, without unbounded repetitions. */
function sizeOf(node: RegexNode): number {
  if (node.type === 'chars') return 1;
  if (node.type === 'row') return sum(node.parts.map(sizeOf));
  if (node.type === 'choice') return sum(node.options.map(sizeOf));
  const times = Math.max(1, node.least, node.most ?? 1);
  if (times > MAX_REPEAT) throw new RegexFault(`it repeats more than ${MAX_REPEAT} times`);
  return times * sizeOf(node.what);
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

function ruleOf(node: RegexNode): string {
  if (node.type === 'chars') return charsRule(node.set);
  if (node.type === 'row')
    return node.parts
      .map(ruleOf)
      .filter((part) => part !== '')
      .join(' ');
  if (node.type === 'choice') return `(${node.options.map((option) => ruleOf(option) || '""').join(' | ')})`;
  const what = ruleOf(node.what);
  if (what === '' || node.most === 0) return '';
  return repeat(`(${what})`, node.least, node.most);
}

/** Matches one character of the set as JSON writes it. */
function charsRule(set: CharSet): string {
  const bare = without(set, NEVER_BARE);
  const options = SIGNS.filter(([code]) => has(set, code)).map(([, sign]) => `"\\\\${gbnf(sign)}"`);
  if (bare.length > 0)
    options.unshift(
      `[${bare.map(([from, to]) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`)).join('')}]`,
    );
  if (options.length === 0) throw new RegexFault('no character fits a set of it');
  return options.length === 1 ? (options[0] as string) : `(${options.join(' | ')})`;
}

const gbnf = (sign: string): string => (sign === '"' || sign === '\\' ? `\\${sign}` : sign);

/** Escapes a code point for a GBNF set. */
function escaped(code: number): string {
  if (code < 0x80 && /[A-Za-z0-9 _]/.test(String.fromCharCode(code))) return String.fromCharCode(code);
  if (code <= 0xff) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).toUpperCase().padStart(digits, '0');
