import { limits, repeat } from './array-rule.ts';
import type { Conversion } from './conversion.ts';
import { type Lengths, patternRule } from './pattern-rule.ts';
import { SchemaFault } from './schema-error.ts';
import type { Schema } from './schema-shape.ts';

/** A format that a grammar can enforce: its rule between the quotes and the lengths of its texts. */
interface Format {
  rule(conversion: Conversion): string;
  lengths: readonly [number, number];
}

const FORMATS: Readonly<Record<string, Format>> = {
  date: { rule: ({ book }) => book.primitive('date'), lengths: [10, 10] },
  time: { rule: ({ book }) => book.primitive('time'), lengths: [9, 21] },
  'date-time': {
    rule: ({ book }) => `${book.primitive('date')} "T" ${book.primitive('time')}`,
    lengths: [20, 32],
  },
  uuid: { rule: ({ book }) => book.primitive('uuid'), lengths: [36, 36] },
  email: { rule: ({ book }) => book.primitive('email'), lengths: [6, Number.POSITIVE_INFINITY] },
  ipv4: {
    rule: ({ book }) => Array(4).fill(book.primitive('octet')).join(' "." '),
    lengths: [7, 15],
  },
};

const QUOTE = String.raw`"\""`;

/** Returns the rule of a string with its pattern, format or length in characters. */
export function stringRule(conversion: Conversion, schema: Schema, at: string): string {
  const { book, strict } = conversion;
  const bounds = lengths(conversion, schema, at);
  const inner = patterned(conversion, schema, bounds, at) ?? formatted(conversion, schema, bounds, at);
  if (inner !== null) return book.add(`${QUOTE} ${inner} ${QUOTE}`);
  const { format } = schema;
  if (strict && format !== undefined)
    throw new SchemaFault(at, `the format ${JSON.stringify(format)} is not supported`);
  if (bounds === null) return book.primitive('string');
  return book.add(`${QUOTE} ${repeat(book.primitive('char'), bounds.min, bounds.max)} ${QUOTE}`);
}

function patterned(
  conversion: Conversion,
  schema: Schema,
  bounds: Lengths | null,
  at: string,
): string | null {
  const { pattern, format } = schema;
  if (pattern === undefined) return null;
  const { book, strict } = conversion;
  if (strict && format !== undefined) throw new SchemaFault(at, '"pattern" and "format" cannot be combined');
  if (typeof pattern !== 'string') throw new SchemaFault(at, '"pattern" must be a text');
  try {
    return patternRule(book, pattern, bounds, at);
  } catch (error) {
    if (strict) throw error;
    return null;
  }
}

function formatted(
  conversion: Conversion,
  schema: Schema,
  bounds: Lengths | null,
  at: string,
): string | null {
  const { format } = schema;
  if (typeof format !== 'string' || !Object.hasOwn(FORMATS, format)) return null;
  const { rule, lengths: has } = FORMATS[format] as Format;
  const fits = bounds === null || (bounds.min <= has[0] && (bounds.max === null || bounds.max >= has[1]));
  if (!fits && conversion.strict)
    throw new SchemaFault(at, `the format "${format}" and a length cannot be combined`);
  return rule(conversion);
}

/** Reads the length limits. Limits that a grammar cannot count to throw only in strict mode. */
function lengths({ strict }: Conversion, schema: Schema, at: string): Lengths | null {
  if (schema.minLength === undefined && schema.maxLength === undefined) return null;
  try {
    return limits(schema, 'minLength', 'maxLength', at);
  } catch (error) {
    if (strict) throw error;
    return null;
  }
}
