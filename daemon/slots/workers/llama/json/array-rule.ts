import type { Conversion } from './conversion.ts';
import { SchemaFault } from './schema-error.ts';
import { joinPath, type Schema } from './schema-shape.ts';

/** llama.cpp refuses longer repetitions. */
export const MAX_REPEAT = 2_000;

/**
 * Returns the rule of an array: `prefixItems` in order, then `items`, with `minItems` to `maxItems` in total.
 */
export function arrayRule(conversion: Conversion, schema: Schema, at: string, root: Schema): string {
  const { book, convert } = conversion;
  const ws = book.primitive('ws');
  const prefix = (Array.isArray(schema.prefixItems) ? schema.prefixItems : []).map((item, i) =>
    convert(item, joinPath(at, `prefixItems.${i}`), root),
  );
  const { min, max } = limits(schema, 'minItems', 'maxItems', at);
  const moreAllowed = schema.items !== false && (max === null || max > prefix.length);
  const item = moreAllowed ? book.add(convert(schema.items ?? true, joinPath(at, 'items'), root)) : null;
  const comma = `"," ${ws} `;
  if (prefix.length > 0) {
    const rest =
      item === null ? '' : repeat(`(${comma}${item})`, min - prefix.length, atMost(max, prefix.length));
    return book.add(`"[" ${ws} ${prefix.join(` ${comma}`)} ${rest} ${ws} "]"`);
  }
  if (item === null) return book.add(`"[" ${ws} "]"`);
  const list = `${item} ${repeat(`(${comma}${item})`, min - 1, atMost(max, 1))}`;
  return book.add(`"[" ${ws} ${min > 0 ? list : `(${list})?`} ${ws} "]"`);
}

const atMost = (max: number | null, used: number): number | null => (max === null ? null : max - used);

/** Reads a pair of bounds. Both must be integers that a grammar can count to. */
export function limits(
  schema: Schema,
  leastKey: string,
  mostKey: string,
  at: string,
): { min: number; max: number | null } {
  const read = (key: string): number | null => {
    const value = schema[key];
    if (value === undefined) return null;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_REPEAT)
      throw new SchemaFault(at, `"${key}" must be a whole number up to ${MAX_REPEAT}`);
    return value;
  };
  const min = read(leastKey) ?? 0;
  const max = read(mostKey);
  if (max !== null && max < min) throw new SchemaFault(at, `"${mostKey}" is less than "${leastKey}"`);
  return { min, max };
}

/** Returns `what` repeated `min` to `max` times (null: unlimited). */
export function repeat(what: string, min: number, max: number | null): string {
  const from = Math.max(0, min);
  if (max === null) return from === 0 ? `${what}*` : `${what}{${from},}`;
  return max <= 0 ? '' : `${what}{${from},${max}}`;
}
