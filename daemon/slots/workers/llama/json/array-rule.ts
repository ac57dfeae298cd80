import type { Conversion } from './conversion.ts';
import { ImpossibleSchema, SchemaFault } from './schema-error.ts';
import { joinPath, type Schema } from './schema-shape.ts';

/** llama.cpp refuses longer repetitions. */
export const MAX_REPEAT = 2_000;

/**
 * Returns the rule of an array: `prefixItems` in order, then `items`, with `minItems` to `maxItems` in total. Reads
 * the form of draft 7 too: a list of `items`, then `additionalItems`.
 */
export function arrayRule(conversion: Conversion, schema: Schema, at: string, root: Schema): string {
  const { book, convert } = conversion;
  const ws = book.primitive('ws');
  const [first, rest] = Array.isArray(schema.items)
    ? [schema.items, schema.additionalItems]
    : [schema.prefixItems, schema.items];
  const prefix = (Array.isArray(first) ? first : []).map((item, i) =>
    convert(item, joinPath(at, `prefixItems.${i}`), root),
  );
  const { min, max } = limits(conversion, schema, ['minItems', 'maxItems'], at);
  const moreAllowed = rest !== false && (max === null || max > prefix.length);
  if (!moreAllowed && min > prefix.length)
    throw new ImpossibleSchema(at, `"minItems" is more than the ${prefix.length} items that are allowed`);
  const item = moreAllowed ? book.add(convert(rest ?? true, joinPath(at, 'items'), root)) : null;
  const comma = `"," ${ws} `;
  if (prefix.length > 0) {
    const others =
      item === null ? '' : repeat(`(${comma}${item})`, min - prefix.length, atMost(max, prefix.length));
    return book.add(`"[" ${ws} ${prefix.join(` ${comma}`)} ${others} ${ws} "]"`);
  }
  if (item === null) return book.add(`"[" ${ws} "]"`);
  const list = `${item} ${repeat(`(${comma}${item})`, min - 1, atMost(max, 1))}`;
  return book.add(`"[" ${ws} ${min > 0 ? list : `(${list})?`} ${ws} "]"`);
}

const atMost = (max: number | null, used: number): number | null => (max === null ? null : max - used);

/**
 * Reads a pair of bounds, a minimum and a maximum. A bound above {@link MAX_REPEAT} is relaxed. Throws SchemaFault
 * for bounds that are no whole numbers, ImpossibleSchema when the maximum is less than the minimum.
 */
export function limits(
  { relax }: Pick<Conversion, 'relax'>,
  schema: Schema,
  [minKey, maxKey]: readonly [string, string],
  at: string,
): { min: number; max: number | null } {
  const read = (key: string, above: number | null): number | null => {
    const value = schema[key];
    if (value === undefined) return null;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
      throw new SchemaFault(at, `"${key}" must be a whole number`);
    if (value <= MAX_REPEAT) return value;
    relax(key);
    return above;
  };
  const min = read(minKey, MAX_REPEAT) ?? 0;
  const max = read(maxKey, null);
  if (max !== null && max < min) throw new ImpossibleSchema(at, `"${maxKey}" is less than "${minKey}"`);
  return { min, max };
}

/** Returns `what` repeated `min` to `max` times (null: unlimited). */
export function repeat(what: string, min: number, max: number | null): string {
  const from = Math.max(0, min);
  if (max === null) return from === 0 ? `${what}*` : `${what}{${from},}`;
  return max <= 0 ? '' : `${what}{${from},${max}}`;
}
