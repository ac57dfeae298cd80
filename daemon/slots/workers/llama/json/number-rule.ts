import { SchemaFault } from './schema-fault.ts';
import type { Conversion, Schema } from './schema-grammar.ts';
import { wholeRange } from './whole-range.ts';

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

/** A number or an integer. Bounds are kept for integers; for other numbers no grammar can keep them. */
export function numberRule({ book, strict }: Conversion, schema: Schema, at: string): string {
  const bound = BOUNDS.find((key) => schema[key] !== undefined);
  if (schema.type !== 'integer') {
    if (bound !== undefined && strict) throw new SchemaFault(at, `"${bound}" is supported for integers only`);
    return book.primitive('number');
  }
  if (bound === undefined) return book.primitive('integer');
  const { least, most } = integerBounds(schema, at);
  const range = wholeRange(least, most);
  if (range === null) throw new SchemaFault(at, 'no integer lies between the bounds');
  return book.add(range);
}

function integerBounds(schema: Schema, at: string): { least: number | null; most: number | null } {
  const read = (key: (typeof BOUNDS)[number]): number | null => {
    const value = schema[key];
    if (value === undefined) return null;
    if (typeof value !== 'number' || Math.abs(value) >= 1e15)
      throw new SchemaFault(at, `"${key}" must be a number of at most 15 digits`);
    return value;
  };
  const over = read('exclusiveMinimum');
  const under = read('exclusiveMaximum');
  return {
    least: larger(ceil(read('minimum')), over === null ? null : Math.floor(over) + 1),
    most: smaller(floor(read('maximum')), under === null ? null : Math.ceil(under) - 1),
  };
}

const ceil = (value: number | null): number | null => (value === null ? null : Math.ceil(value));
const floor = (value: number | null): number | null => (value === null ? null : Math.floor(value));
const larger = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);
const smaller = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
