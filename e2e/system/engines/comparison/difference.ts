/** One place where two answers to the same request are not alike. */
export interface Difference {
  /** Path of the field; `[]` stands for any element. */
  readonly field: string;
  readonly theirs: string;
  readonly ours: string;
}

/** What differs from run to run: only its type counts. */
const VOLATILE = /(^|\.)(id|created|system_fingerprint|cached_tokens)$|(^|\.)timings\.(?!predicted_n$)/;

/** Numbers this close are the same: both are rounded on their way. */
const CLOSE = 2e-3;
const SHOWN_MOST = 40;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number');

const near = (a: number, b: number): boolean => Math.abs(a - b) <= CLOSE * Math.max(1, Math.abs(a));

function typeOf(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** How a value is written in the table: as it is when it is short, else its type. */
function shown(value: unknown, field: string): string {
  const type = typeOf(value);
  if (['absent', 'null', 'object', 'array'].includes(type) || VOLATILE.test(field)) return type;
  const text = JSON.stringify(value);
  return text.length <= SHOWN_MOST ? text : type;
}

function same(theirs: unknown, ours: unknown, field: string): boolean {
  if (typeOf(theirs) !== typeOf(ours)) return false;
  if (VOLATILE.test(field)) return true;
  if (typeof theirs === 'number' && typeof ours === 'number') return near(theirs, ours);
  return theirs === ours;
}

/** Every field in which two JSON values differ, once: a missing object is one difference, not one for each of its fields. */
export function differences(theirs: unknown, ours: unknown, field = ''): Difference[] {
  const found = compared(theirs, ours, field);
  const byText = new Map(found.map((each) => [`${each.field} ${each.theirs} ${each.ours}`, each]));
  return [...byText.values()];
}

function compared(theirs: unknown, ours: unknown, field: string): Difference[] {
  if (isObject(theirs) && isObject(ours)) {
    const keys = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
    return keys.flatMap((key) => compared(theirs[key], ours[key], field === '' ? key : `${field}.${key}`));
  }
  if (isVector(theirs) && isVector(ours)) {
    const alike = theirs.length === ours.length && theirs.every((value, i) => near(value, ours[i] as number));
    return alike ? [] : [{ field, theirs: 'a vector', ours: 'another vector' }];
  }
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    if (theirs.length !== ours.length)
      return [{ field: `${field}.length`, theirs: String(theirs.length), ours: String(ours.length) }];
    return theirs.flatMap((each, i) => compared(each, ours[i], `${field}[]`));
  }
  if (same(theirs, ours, field)) return [];
  return [{ field, theirs: shown(theirs, field), ours: shown(ours, field) }];
}
