import { limits, repeat } from './array-rule.ts';
import { SchemaFault } from './schema-fault.ts';
import type { Conversion, Schema } from './schema-grammar.ts';

/** Formats that a grammar can keep, as a rule between the quotes. */
const FORMATS: Readonly<Record<string, (conversion: Conversion) => string>> = {
  date: ({ book }) => book.primitive('date'),
  time: ({ book }) => book.primitive('time'),
  'date-time': ({ book }) => `${book.primitive('date')} "T" ${book.primitive('time')}`,
  uuid: ({ book }) => book.primitive('uuid'),
};

const QUOTE = String.raw`"\""`;

/** A string, with its format or its length in characters. */
export function stringRule(conversion: Conversion, schema: Schema, at: string): string {
  const { book, strict } = conversion;
  if (strict && schema.pattern !== undefined) throw new SchemaFault(at, '"pattern" is not supported');
  const { format } = schema;
  if (typeof format === 'string' && Object.hasOwn(FORMATS, format))
    return book.add(`${QUOTE} ${FORMATS[format]?.(conversion)} ${QUOTE}`);
  if (strict && format !== undefined)
    throw new SchemaFault(at, `the format ${JSON.stringify(format)} is not supported`);
  if (schema.minLength === undefined && schema.maxLength === undefined) return book.primitive('string');
  const { least, most } = bounds(conversion, schema, at);
  return book.add(`${QUOTE} ${repeat(book.primitive('char'), least, most)} ${QUOTE}`);
}

/** Lengths beyond what a grammar can count to are a fault only where the schema must be kept to the letter. */
function bounds({ strict }: Conversion, schema: Schema, at: string): ReturnType<typeof limits> {
  try {
    return limits(schema, 'minLength', 'maxLength', at);
  } catch (error) {
    if (strict) throw error;
    return { least: 0, most: null };
  }
}
