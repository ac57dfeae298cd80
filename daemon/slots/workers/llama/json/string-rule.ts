import { limits, repeat } from './array-rule.ts';
import type { Conversion } from './conversion.ts';
import { type Lengths, patternRule } from './pattern-rule.ts';
import type { RuleBook } from './rule-book.ts';
import { SchemaFault } from './schema-error.ts';
import type { Schema } from './schema-shape.ts';

/** A format that a grammar can enforce: its rule between the quotes and the lengths of its texts. */
interface Format {
  rule(book: RuleBook): string;
  lengths: readonly [number, number];
}

const primitive = (name: string) => (book: RuleBook) => book.primitive(name);

/** The formats that have a rule. Any other format is an annotation. */
const FORMATS: Readonly<Record<string, Format>> = {
  date: { rule: primitive('date'), lengths: [10, 10] },
  time: { rule: primitive('time'), lengths: [9, 21] },
  'date-time': {
    rule: (book) => `${book.primitive('date')} "T" ${book.primitive('time')}`,
    lengths: [20, 32],
  },
  duration: { rule: primitive('duration'), lengths: [3, 60] },
  uuid: { rule: primitive('uuid'), lengths: [36, 36] },
  email: { rule: primitive('email'), lengths: [6, Number.POSITIVE_INFINITY] },
  hostname: { rule: primitive('hostname'), lengths: [1, 247] },
  ipv4: { rule: (book) => Array(4).fill(book.primitive('octet')).join(' "." '), lengths: [7, 15] },
  ipv6: { rule: (book) => Array(8).fill(book.primitive('hextet')).join(' ":" '), lengths: [15, 39] },
  uri: { rule: primitive('uri'), lengths: [3, Number.POSITIVE_INFINITY] },
};

const QUOTE = String.raw`"\""`;
const LENGTHS = ['minLength', 'maxLength'] as const;

/**
 * Returns the rule of a string with its pattern, format or length in characters. Next to a pattern, the format is an
 * annotation (JSON Schema Validation, section 7.2.1). Both precede a length that cannot be combined with them.
 */
export function stringRule(conversion: Conversion, schema: Schema, at: string): string {
  const { book } = conversion;
  const bounds = LENGTHS.some((key) => schema[key] !== undefined)
    ? limits(conversion, schema, LENGTHS, at)
    : null;
  const inner = patterned(conversion, schema, bounds, at) ?? formatted(conversion, schema, bounds);
  if (inner !== null) return book.add(`${QUOTE} ${inner} ${QUOTE}`);
  if (bounds === null) return book.primitive('string');
  return book.add(`${QUOTE} ${repeat(book.primitive('char'), bounds.min, bounds.max)} ${QUOTE}`);
}

function patterned(
  { book, relax }: Conversion,
  schema: Schema,
  bounds: Lengths | null,
  at: string,
): string | null {
  const { pattern } = schema;
  if (pattern === undefined) return null;
  if (typeof pattern !== 'string') throw new SchemaFault(at, '"pattern" must be a string');
  const within = patternRule(book, pattern, bounds, at);
  const rule = within ?? (bounds === null ? null : patternRule(book, pattern, null, at));
  if (rule === null) relax('pattern');
  else {
    if (within === null) relaxLengths(relax, schema);
    if (schema.format !== undefined) relax(`format:${String(schema.format)}`);
  }
  return rule;
}

function formatted({ book, relax }: Conversion, schema: Schema, bounds: Lengths | null): string | null {
  const { format } = schema;
  if (format === undefined) return null;
  if (typeof format !== 'string' || !Object.hasOwn(FORMATS, format)) {
    relax(`format:${String(format)}`);
    return null;
  }
  const { rule, lengths: has } = FORMATS[format] as Format;
  const fits = bounds === null || (bounds.min <= has[0] && (bounds.max === null || bounds.max >= has[1]));
  if (!fits) relaxLengths(relax, schema);
  return rule(book);
}

function relaxLengths(relax: Conversion['relax'], schema: Schema): void {
  for (const key of LENGTHS) if (schema[key] !== undefined) relax(key);
}
