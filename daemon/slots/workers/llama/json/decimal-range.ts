import { wholeRange } from './integer-range.ts';

/** One end of a number range. */
export interface Bound {
  readonly value: number;
  /** True: the value itself is excluded. */
  readonly open: boolean;
}

/** Maximum number of digits after the decimal point. */
const MAX_FRACTION_DIGITS = 15;
const ANY = `[0-9]{0,${MAX_FRACTION_DIGITS}}`;
const SOME = `[0-9]{1,${MAX_FRACTION_DIGITS}}`;

/** The digits of a non-negative bound before and after the decimal point, without trailing zeros. */
interface Digits {
  readonly whole: number;
  readonly fraction: string;
  readonly open: boolean;
}

/**
 * Returns GBNF for the decimal numbers from `min` to `max` (null: unbounded), without exponents. Null when
 * the range is empty.
 */
export function decimalRange(min: Bound | null, max: Bound | null): string | null {
  const parts: string[] = [];
  const below = magnitudes(negated(max), negated(min), true);
  if (below !== null) parts.push(`"-" (${below})`);
  const above = magnitudes(min, max, false);
  if (above !== null) parts.push(above);
  return parts.length === 0 ? null : `(${parts.join(' | ')})`;
}

const negated = (bound: Bound | null): Bound | null =>
  bound === null ? null : { value: -bound.value, open: bound.open };

/** Matches the non-negative numbers in between. `positive` excludes zero. */
function magnitudes(min: Bound | null, max: Bound | null, positive: boolean): string | null {
  if (max !== null && (max.value < 0 || (max.value === 0 && (max.open || positive)))) return null;
  const zero: Bound = { value: 0, open: positive };
  const from = min === null || min.value < 0 || (min.value === 0 && positive) ? zero : min;
  const low = digitsOf(from);
  const high = max === null ? null : digitsOf(max);
  const parts = high !== null && low.whole === high.whole ? [within(low, high)] : apart(low, high);
  const possible = parts.filter((part) => part !== null);
  return possible.length === 0 ? null : possible.join(' | ');
}

/**
 * Handles bounds with different integer parts: the rest of the lowest, all in between, the start of the
 * highest.
 */
function apart(low: Digits, high: Digits | null): (string | null)[] {
  if (high !== null && low.whole > high.whole) return [];
  const between = wholeRange(low.whole + 1, high === null ? null : high.whole - 1);
  return [
    within(low, null),
    between === null ? null : `${between} ("." ${SOME})?`,
    high === null ? null : within({ whole: high.whole, fraction: '', open: false }, high),
  ];
}

/** Matches numbers with the integer part of `low` and a fraction in between. */
function within(low: Digits, high: Digits | null): string | null {
  const tail = fractions(
    { digits: low.fraction, open: low.open },
    high === null ? null : { digits: high.fraction, open: high.open },
  );
  if (tail.some === null) return tail.empty ? `"${low.whole}"` : null;
  return tail.empty ? `"${low.whole}" ("." (${tail.some}))?` : `"${low.whole}" "." (${tail.some})`;
}

interface Fraction {
  readonly digits: string;
  readonly open: boolean;
}

/** The digits that may follow: whether none is allowed, and GBNF for one or more (null: none). */
interface Tail {
  readonly empty: boolean;
  readonly some: string | null;
}

/** Matches the digits after the decimal point, or their rest, between two fractions. */
function fractions(lowFraction: Fraction | null, high: Fraction | null): Tail {
  // A closed lower bound without remaining digits is no bound.
  const low = lowFraction === null || (lowFraction.digits === '' && !lowFraction.open) ? null : lowFraction;
  if (low === null && high === null) return { empty: true, some: SOME };
  if (high !== null && high.digits === '')
    return high.open || low !== null ? NONE : { empty: true, some: `"0"{1,${MAX_FRACTION_DIGITS}}` };
  if (low !== null && low.digits === '' && high === null)
    return low.open
      ? { empty: false, some: `"0"{0,${MAX_FRACTION_DIGITS - 1}} [1-9] ${ANY}` }
      : fractions(null, null);
  const first = Number(low?.digits[0] ?? '0');
  const last = high === null ? 9 : Number(high.digits[0] ?? '0');
  const nextLow = low === null ? null : rest(low);
  const nextHigh = high === null ? null : rest(high);
  if (first > last) return NONE;
  const parts = first === last ? [digit(first, nextLow, nextHigh)] : spread(first, last, nextLow, nextHigh);
  const some = parts.filter((part) => part !== null);
  return { empty: low === null, some: some.length === 0 ? null : some.join(' | ') };
}

function spread(first: number, last: number, low: Fraction | null, high: Fraction | null): (string | null)[] {
  return [
    digit(first, low, null),
    last - first > 1 ? `[${first + 1}-${last - 1}] ${ANY}` : null,
    digit(last, null, high),
  ];
}

/** Matches one digit and what may follow it. */
function digit(value: number, low: Fraction | null, high: Fraction | null): string | null {
  const tail = fractions(low, high);
  if (tail.some === null) return tail.empty ? `"${value}"` : null;
  return `"${value}" (${tail.some})${tail.empty ? '?' : ''}`;
}

const NONE: Tail = { empty: false, some: null };

/** Returns a bound without its first digit. */
function rest({ digits, open }: Fraction): Fraction {
  return { digits: digits.slice(1), open };
}

function digitsOf({ value, open }: Bound): Digits {
  const [whole = '0', fraction = ''] = plain(value).split('.');
  return { whole: Number(whole), fraction: fraction.replace(/0+$/, ''), open };
}

/** Formats a non-negative number without an exponent. */
function plain(value: number): string {
  const [digits = '0', exponent] = String(value).split('e');
  if (exponent === undefined) return digits;
  const [whole = '0', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  if (shift >= 0) return whole + fraction.padEnd(shift, '0').slice(0, shift);
  return `0.${'0'.repeat(-shift - 1)}${whole}${fraction}`;
}
