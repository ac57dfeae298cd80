import { ImpossibleSchema, SchemaFault } from './schema-error.ts';
import { resolve } from './schema-reference.ts';
import { isSchema, joinPath, type Schema } from './schema-shape.ts';

/** The location of a schema: its path for messages, and the schema in which its references resolve. */
export interface SchemaLocation {
  schema: unknown;
  at: string;
  root: Schema;
}

/** How many more schemas may be merged. References can repeat the same schema many times. */
export interface MergeBudget {
  left: number;
  /** Receives a keyword of which only one of two values is enforced. */
  relax(keyword: string): void;
}

const MAX_DEPTH = 16;
/** Maximum number of alternatives of one schema. */
const MAX_ALTERNATIVES = 64;

/** Keywords that do not restrict values. */
const ANNOTATION_KEYWORDS: ReadonlySet<string> = new Set([
  ...[
    '$schema',
    '$id',
    '$anchor',
    '$comment',
    '$defs',
    'definitions',
    'title',
    'description',
    'default',
    'examples',
  ],
  ...['deprecated', 'readOnly', 'writeOnly', 'nullable'],
]);

/** Returns whether any keyword except `apart` restricts values. */
export const hasOtherConstraints = (schema: Schema, ...apart: readonly string[]): boolean =>
  Object.keys(schema).some(
    (key) => !ANNOTATION_KEYWORDS.has(key) && !apart.includes(key) && !key.startsWith('x-'),
  );

/**
 * Returns the schema as alternatives without top-level `allOf`, `anyOf`, `oneOf` and `$ref`. A value fits the
 * schema when it fits one of them. Throws SchemaFault for what cannot be merged.
 */
export function mergedAlternatives(
  { schema, at, root }: SchemaLocation,
  budget: MergeBudget,
  depth = 0,
): Schema[] {
  budget.left -= 1;
  if (budget.left < 0) throw new SchemaFault(at, 'too many schemas are to be merged');
  if (depth > MAX_DEPTH)
    throw new SchemaFault(at, `schemas that are merged are nested deeper than ${MAX_DEPTH}`);
  if (schema === true) return [{}];
  if (!isSchema(schema)) throw new SchemaFault(at, 'a schema must be an object or true');
  const { allOf, anyOf, oneOf, $ref, ...own } = schema;
  const inner = (part: unknown, next: string) =>
    mergedAlternatives({ schema: part, at: joinPath(at, next), root }, budget, depth + 1);
  const groups: Schema[][] = [[own]];
  if (typeof $ref === 'string') groups.push(inner(target($ref, at, root), $ref));
  for (const [i, part] of listed(allOf, 'allOf', at).entries()) groups.push(inner(part, `allOf.${i}`));
  for (const [key, choices] of [
    ['anyOf', anyOf],
    ['oneOf', oneOf],
  ] as const) {
    if (choices !== undefined)
      groups.push(listed(choices, key, at).flatMap((choice, i) => inner(choice, `${key}.${i}`)));
  }
  const all = groups.reduce((left, right) => product(left, right, at, budget));
  if (all.length === 0) throw new ImpossibleSchema(at, 'no value fits all of its parts');
  return all;
}

/** Merges every pair of both lists. Drops pairs that no value fits. */
function product(
  left: readonly Schema[],
  right: readonly Schema[],
  at: string,
  budget: MergeBudget,
): Schema[] {
  if (left.length * right.length > MAX_ALTERNATIVES)
    throw new SchemaFault(at, `its parts multiply to more than ${MAX_ALTERNATIVES} alternatives`);
  return left.flatMap((a) => right.map((b) => merged(a, b, budget))).filter((schema) => schema !== null);
}

type Merge = (a: never, b: never, key: string, budget: MergeBudget) => unknown;
const NOTHING = Symbol('no value fits');

const larger: Merge = (a: number, b: number) => Math.max(a, b);
const smaller: Merge = (a: number, b: number) => Math.min(a, b);
const both: Merge = (a: unknown, b: unknown) => (a === false || b === false ? false : { allOf: [a, b] });
/** Keeps the first of two values that cannot be combined. */
const same: Merge = (a: unknown, b: unknown, key, { relax }) => {
  if (JSON.stringify(a) !== JSON.stringify(b)) relax(key);
  return a;
};

/** How two values of one keyword combine. */
const MERGES: Readonly<Record<string, Merge>> = {
  type: (a: unknown, b: unknown) => commonTypes([a].flat(), [b].flat()),
  required: (a: unknown[], b: unknown[]) => [...new Set([...a, ...b])],
  enum: (a: unknown[], b: unknown[]) => common(a, b),
  const: (a: unknown, b: unknown) => (JSON.stringify(a) === JSON.stringify(b) ? a : NOTHING),
  items: both,
  additionalProperties: both,
  ...{ minLength: larger, minItems: larger, minimum: larger, exclusiveMinimum: larger },
  ...{ maxLength: smaller, maxItems: smaller, maximum: smaller, exclusiveMaximum: smaller },
};

/** Returns one schema for values that fit both. Null when no value can. */
function merged(a: Schema, b: Schema, budget: MergeBudget): Schema | null {
  const out: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    if (key === 'properties' || ANNOTATION_KEYWORDS.has(key)) continue;
    const merge = MERGES[key] ?? same;
    const together = out[key] === undefined ? value : merge(out[key] as never, value as never, key, budget);
    if (together === NOTHING) return null;
    out[key] = together;
  }
  if (isSchema(a.properties) || isSchema(b.properties)) out.properties = properties(a, b);
  return out;
}

/**
 * Merges the properties of both. A property that only one side names must fit the other's
 * `additionalProperties`.
 */
function properties(a: Schema, b: Schema): Schema {
  const [inA, inB] = [a, b].map(({ properties: own }) => (isSchema(own) ? own : {})) as [Schema, Schema];
  const out: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(inA), ...Object.keys(inB)])) {
    const parts = [
      Object.hasOwn(inA, name) ? inA[name] : a.additionalProperties,
      Object.hasOwn(inB, name) ? inB[name] : b.additionalProperties,
    ].filter((part) => part !== undefined && part !== true);
    if (parts.includes(false)) continue;
    out[name] = parts.length > 1 ? { allOf: parts } : (parts[0] ?? true);
  }
  return out;
}

function commonTypes(a: readonly unknown[], b: readonly unknown[]): unknown {
  const types = new Set(
    a.flatMap((one) => b.flatMap((other) => (one === other ? [one] : narrower(one, other)))),
  );
  if (types.size === 0) return NOTHING;
  return types.size === 1 ? [...types][0] : [...types];
}

/** Every integer is a number. */
const narrower = (a: unknown, b: unknown): string[] =>
  [a, b].includes('integer') && [a, b].includes('number') ? ['integer'] : [];

function common(a: readonly unknown[], b: readonly unknown[]): unknown {
  const texts = new Set(b.map((value) => JSON.stringify(value)));
  const shared = a.filter((value) => texts.has(JSON.stringify(value)));
  return shared.length === 0 ? NOTHING : shared;
}

function listed(value: unknown, key: string, at: string): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length > 0) return value;
  throw new SchemaFault(at, `"${key}" must be a list that is not empty`);
}

function target(ref: string, at: string, root: Schema): unknown {
  const found = resolve(ref, root);
  if (found === undefined) throw new SchemaFault(at, `the reference ${JSON.stringify(ref)} leads nowhere`);
  return found;
}
