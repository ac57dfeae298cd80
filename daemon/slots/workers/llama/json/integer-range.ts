/** Maximum number of digits at an open end. */
const OPEN_DIGITS = 16;

/**
 * Returns GBNF for the integers from `min` to `max` without leading zeros (null: unbounded). Null when the
 * range is empty.
 */
export function wholeRange(min: number | null, max: number | null): string | null {
  if (min !== null && max !== null && min > max) return null;
  const parts: string[] = [];
  if (min === null || min < 0) {
    // -5..-1 is 1..5 after a minus sign. Zero has no sign.
    const nearest = max !== null && max < 0 ? -max : 1;
    parts.push(`"-" (${naturals(nearest, min === null ? null : -min)})`);
  }
  if (max === null || max >= 0) parts.push(naturals(Math.max(0, min ?? 0), max));
  return `(${parts.join(' | ')})`;
}

function naturals(least: number, most: number | null): string {
  const from = String(least);
  if (most === null) {
    const longer = from.length < OPEN_DIGITS ? ` | [1-9] [0-9]{${from.length},${OPEN_DIGITS - 1}}` : '';
    return `${sameLength(from, '9'.repeat(from.length))}${longer}`;
  }
  const to = String(most);
  const parts: string[] = [];
  for (let digits = from.length; digits <= to.length; digits++) {
    const low = digits === from.length ? from : `1${'0'.repeat(digits - 1)}`;
    parts.push(sameLength(low, digits === to.length ? to : '9'.repeat(digits)));
  }
  return parts.join(' | ');
}

/** Handles two numbers with the same number of digits. */
function sameLength(low: string, high: string): string {
  if (low === '') return '""';
  const rest = low.length - 1;
  const [a, b] = [low[0] as string, high[0] as string];
  if (a === b) return rest === 0 ? `"${a}"` : `"${a}" (${sameLength(low.slice(1), high.slice(1))})`;
  if (rest === 0) return `[${a}-${b}]`;
  const parts: string[] = [];
  const lowFull = /^0*$/.test(low.slice(1));
  const highFull = /^9*$/.test(high.slice(1));
  if (!lowFull) parts.push(`"${a}" (${sameLength(low.slice(1), '9'.repeat(rest))})`);
  const first = Number(a) + (lowFull ? 0 : 1);
  const last = Number(b) - (highFull ? 0 : 1);
  if (first <= last) parts.push(`[${first}-${last}] [0-9]{${rest}}`);
  if (!highFull) parts.push(`"${b}" (${sameLength('0'.repeat(rest), high.slice(1))})`);
  return parts.join(' | ');
}
