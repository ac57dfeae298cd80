import type { Conversion } from './conversion.ts';
import { type Bound, decimalRange } from './decimal-range.ts';
import { wholeRange } from './integer-range.ts';
import { ImpossibleSchema, SchemaFault } from './schema-error.ts';
import type { Schema } from './schema-shape.ts';

type BoundKey = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum';

/**
 * JSON parsers represent integers exactly up to this value. A bound beyond it, such as that of an int64, is
 * clamped to it.
 */
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
/** Maximum bound of non-integers: bounds are expanded digit by digit. */
const MAX_BOUND = 1e15;
const SMALLEST = 1e-12;

/** Returns the rule of a number or integer between its bounds. A bounded number has no exponent. */
export function numberRule(conversion: Conversion, schema: Schema, at: string): string {
  const { book } = conversion;
  const integer = schema.type === 'integer';
  const bounds = boundsOf(conversion, schema, at);
  if (bounds.least === null && bounds.most === null) return book.primitive(schema.type as string);
  const range = integer
    ? exactRange(closed(bounds.least, 1), closed(bounds.most, -1))
    : decimalRange(bounds.least, bounds.most);
  if (range === null)
    throw new ImpossibleSchema(at, `there is no ${integer ? 'integer' : 'number'} between the bounds`);
  return book.add(range);
}

function exactRange(least: number | null, most: number | null): string | null {
  if ((least ?? 0) > MAX_INTEGER || (most ?? 0) < -MAX_INTEGER) return null;
  return wholeRange(
    least === null ? null : Math.max(least, -MAX_INTEGER),
    most === null ? null : Math.min(most, MAX_INTEGER),
  );
}

/** Returns the nearest integer within the bound. `inwards` is 1 for a lower and -1 for an upper bound. */
function closed(bound: Bound | null, inwards: 1 | -1): number | null {
  if (bound === null) return null;
  const nearest = inwards > 0 ? Math.ceil(bound.value) : Math.floor(bound.value);
  const next = bound.open && nearest === bound.value ? nearest + inwards : nearest;
  return next === 0 ? 0 : next;
}

/**
 * Returns the narrower of each pair of bounds; null where there is none. Relaxes a bound that a grammar cannot
 * enforce. Reads the form of draft 4 too, in which `exclusiveMinimum` and `exclusiveMaximum` are booleans.
 */
function boundsOf(
  { relax }: Conversion,
  schema: Schema,
  at: string,
): { least: Bound | null; most: Bound | null } {
  const read = (key: BoundKey, open: boolean): Bound | null => {
    const value = schema[key];
    if (value === undefined || (typeof value === 'boolean' && key.startsWith('exclusive'))) return null;
    if (typeof value !== 'number') throw new SchemaFault(at, `"${key}" must be a number`);
    const tooLong = Math.abs(value) >= MAX_BOUND || (value !== 0 && Math.abs(value) < SMALLEST);
    if (schema.type === 'integer' || !tooLong) return { value, open };
    relax(key);
    return null;
  };
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  return {
    least: narrower(read('minimum', exclusiveMinimum === true), read('exclusiveMinimum', true), 1),
    most: narrower(read('maximum', exclusiveMaximum === true), read('exclusiveMaximum', true), -1),
  };
}

function narrower(closedOne: Bound | null, openOne: Bound | null, inwards: 1 | -1): Bound | null {
  if (closedOne === null || openOne === null) return closedOne ?? openOne;
  return (openOne.value - closedOne.value) * inwards >= 0 ? openOne : closedOne;
}
