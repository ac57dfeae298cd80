import { SchemaFault } from './schema-fault.ts';
import type { Conversion } from './schema-grammar.ts';
import { join, type Schema } from './schema-shape.ts';

/** llama.cpp refuses longer repetitions. */
export const REPEAT_MOST = 2_000;

/** An array: `prefixItems` in order, then `items`, between `minItems` and `maxItems` in all. */
export function arrayRule(conversion: Conversion, schema: Schema, at: string, root: Schema): string {
  const { book, convert } = conversion;
  const ws = book.primitive('ws');
  const prefix = (Array.isArray(schema.prefixItems) ? schema.prefixItems : []).map((item, i) =>
    convert(item, join(at, `prefixItems.${i}`), root),
  );
  const { least, most } = limits(schema, 'minItems', 'maxItems', at);
  const moreAllowed = schema.items !== false && (most === null || most > prefix.length);
  const item = moreAllowed ? book.add(convert(schema.items ?? true, join(at, 'items'), root)) : null;
  const comma = `"," ${ws} `;
  if (prefix.length > 0) {
    const rest =
      item === null ? '' : repeat(`(${comma}${item})`, least - prefix.length, atMost(most, prefix.length));
    return book.add(`"[" ${ws} ${prefix.join(` ${comma}`)} ${rest} ${ws} "]"`);
  }
  if (item === null) return book.add(`"[" ${ws} "]"`);
  const list = `${item} ${repeat(`(${comma}${item})`, least - 1, atMost(most, 1))}`;
  return book.add(`"[" ${ws} ${least > 0 ? list : `(${list})?`} ${ws} "]"`);
}

const atMost = (most: number | null, taken: number): number | null => (most === null ? null : most - taken);

/** Reads a pair of bounds, which must be whole numbers that a grammar can count to. */
export function limits(
  schema: Schema,
  leastKey: string,
  mostKey: string,
  at: string,
): { least: number; most: number | null } {
  const read = (key: string): number | null => {
    const value = schema[key];
    if (value === undefined) return null;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > REPEAT_MOST)
      throw new SchemaFault(at, `"${key}" must be a whole number up to ${REPEAT_MOST}`);
    return value;
  };
  const least = read(leastKey) ?? 0;
  const most = read(mostKey);
  if (most !== null && most < least) throw new SchemaFault(at, `"${mostKey}" is less than "${leastKey}"`);
  return { least, most };
}

/** `what` between `least` and `most` times (null: no end). */
export function repeat(what: string, least: number, most: number | null): string {
  const from = Math.max(0, least);
  if (most === null) return from === 0 ? `${what}*` : `${what}{${from},}`;
  return most <= 0 ? '' : `${what}{${from},${most}}`;
}
