/** One difference between two responses to the same request. */
export interface Difference {
  /** Path of the field; `[]` stands for any element. */
  readonly field: string;
  readonly theirs: string;
  readonly ours: string;
}

/** Fields that differ from run to run. Only their types are compared. */
const VOLATILE = /(^|\.)(id|created|system_fingerprint|cached_tokens)$|(^|\.)timings\.(?!predicted_n$)/;

/** Relative tolerance for numbers, because both engines round. */
const TOLERANCE = 2e-3;
const MAX_SHOWN_CHARS = 40;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number');

const near = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a));

function typeOf(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Formats a value for the table: a short value unchanged, else its type. */
function shown(value: unknown, field: string): string {
  const type = typeOf(value);
  if (['absent', 'null', 'object', 'array'].includes(type) || VOLATILE.test(field)) return type;
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN_CHARS ? text : type;
}

function same(theirs: unknown, ours: unknown, field: string): boolean {
  if (typeOf(theirs) !== typeOf(ours)) return false;
  if (VOLATILE.test(field)) return true;
  if (typeof theirs === 'number' && typeof ours === 'number') return near(theirs, ours);
  return theirs === ours;
}

/** Returns each differing field of two JSON values once. A missing object is one difference, not one for each of its fields. */
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
