import { isIPv4, isIPv6 } from 'node:net';
import { resolve } from './schema-reference.ts';
import { isSchema, type Schema } from './schema-shape.ts';

const MAX_DEPTH = 64;
const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isSchema,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  any: () => true,
};
/** The formats that a grammar enforces. A value that has not the format matches none of the grammar's texts. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  'date-time': (text) => text[10] === 'T' && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
  duration: (text) => /^P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)$/.test(text),
  uuid: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
  hostname: (text) =>
    text.length <= 253 && /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i.test(text),
  ipv4: isIPv4,
  ipv6: (text) => isIPv6(text) && !text.includes('%'),
  uri: (text) => /^[a-z][a-z\d+.-]*:[^\s"<>\\^`{|}]+$/i.test(text) && URL.canParse(text),
};

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isTime(text: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(text);
}

/**
 * Checks a value against one keyword. Receives the rest of the schema and a function that checks sub-schemas.
 */
type Check = (
  value: never,
  constraint: never,
  schema: Schema,
  fits: (value: unknown, schema: unknown) => boolean,
) => boolean;

const STRINGS: Readonly<Record<string, Check>> = {
  minLength: (value: string, least: number) => [...value].length >= least,
  maxLength: (value: string, most: number) => [...value].length <= most,
  format: (value: string, format: string) =>
    !Object.hasOwn(FORMATS, format) || FORMATS[format]?.(value) === true,
};
const NUMBERS: Readonly<Record<string, Check>> = {
  minimum: (value: number, least: number) => value >= least,
  maximum: (value: number, most: number) => value <= most,
  exclusiveMinimum: (value: number, least: number) => value > least,
  exclusiveMaximum: (value: number, most: number) => value < most,
};
const ARRAYS: Readonly<Record<string, Check>> = {
  minItems: (value: unknown[], least: number) => value.length >= least,
  maxItems: (value: unknown[], most: number) => value.length <= most,
  prefixItems: (value: unknown[], items: unknown[], _, fits) =>
    value.every((item, i) => i >= items.length || fits(item, items[i])),
  items: (value: unknown[], item: unknown, schema, fits) =>
    value
      .slice(Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0)
      .every((one) => fits(one, item)),
};
const OBJECTS: Readonly<Record<string, Check>> = {
  required: (value: Schema, names: string[]) => names.every((name) => Object.hasOwn(value, name)),
  properties: (value: Schema, properties: Schema, _, fits) =>
    Object.entries(properties).every(([name, own]) => !Object.hasOwn(value, name) || fits(value[name], own)),
  additionalProperties: (value: Schema, more: unknown, { properties }, fits) =>
    Object.keys(value).every(
      (name) => (isSchema(properties) && Object.hasOwn(properties, name)) || fits(value[name], more),
    ),
};
const ANY: Readonly<Record<string, Check>> = {
  type: (value: unknown, type: unknown) => [type].flat().some((one) => TYPES[String(one)]?.(value) === true),
  const: (value: unknown, expected: unknown) => same(value, expected),
  enum: (value: unknown, list: unknown[]) => textsOf(list).has(JSON.stringify(value)),
  allOf: (value: unknown, parts: unknown[], _, fits) => parts.every((part) => fits(value, part)),
  anyOf: (value: unknown, parts: unknown[], _, fits) => parts.some((part) => fits(value, part)),
  oneOf: (value: unknown, parts: unknown[], _, fits) =>
    parts.filter((part) => fits(value, part)).length === 1,
};

/**
 * Returns whether a listed value fits the other keywords of the schema, as far as a grammar enforces them. Ignores a
 * `pattern`: one of a caller could run indefinitely. References resolve in `root`.
 */
export function fitsSchema(value: unknown, schema: unknown, root: Schema, depth = 0): boolean {
  if (schema === true || depth > MAX_DEPTH) return true;
  if (!isSchema(schema)) return false;
  const fits = (part: unknown, constraint: unknown) => fitsSchema(part, constraint, root, depth + 1);
  if (typeof schema.$ref === 'string' && !fits(value, resolve(schema.$ref, root))) return false;
  return Object.entries({ ...ANY, ...checksOf(value) }).every(
    ([key, check]) => schema[key] === undefined || check(value as never, schema[key] as never, schema, fits),
  );
}

function checksOf(value: unknown): Readonly<Record<string, Check>> {
  if (typeof value === 'string') return STRINGS;
  if (typeof value === 'number') return NUMBERS;
  if (Array.isArray(value)) return ARRAYS;
  return isSchema(value) ? OBJECTS : {};
}

/** The JSON texts of lists that were compared. Each value of a list is compared with the whole list. */
const LISTED = new WeakMap<readonly unknown[], ReadonlySet<string>>();

function textsOf(list: readonly unknown[]): ReadonlySet<string> {
  const known = LISTED.get(list);
  if (known !== undefined) return known;
  const texts = new Set(list.map((value) => JSON.stringify(value)));
  LISTED.set(list, texts);
  return texts;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
