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
const FORMATS: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  uuid: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
  email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
};

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
    !Object.hasOwn(FORMATS, format) || (FORMATS[format] as RegExp).test(value),
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
  enum: (value: unknown, list: unknown[]) => list.some((one) => same(value, one)),
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

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
