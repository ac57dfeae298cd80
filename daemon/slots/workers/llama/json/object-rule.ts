import type { Conversion } from './conversion.ts';
import { otherNames } from './other-names.ts';
import { literal } from './rule-book.ts';
import { ImpossibleSchema, unlessImpossible } from './schema-error.ts';
import { isSchema, joinPath, type Schema } from './schema-shape.ts';

/**
 * Returns the rule of an object: the required properties in order, then any of the optional ones in order,
 * then additional ones if allowed.
 */
export function objectRule(conversion: Conversion, schema: Schema, at: string, root: Schema): string {
  const { book } = conversion;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = propertiesOf(schema, required, at);
  const ws = book.primitive('ws');
  const pair = ([name, value]: [string, unknown]): string =>
    `${literal(JSON.stringify(name))} ":" ${ws} ${conversion.convert(value, joinPath(at, `properties.${name}`), root)}`;
  const first = properties.filter(([name]) => required.has(name)).map(pair);
  const others = properties
    .filter(([name]) => !required.has(name))
    .map((entry) => unlessImpossible(() => book.add(pair(entry))))
    .filter((rule) => rule !== null);
  const names = properties.map(([name]) => name);
  const more = additional(conversion, schema, names, { at, root });
  const inner =
    first.length > 0
      ? `${first.join(` "," ${ws} `)} ${tails(conversion, others, more)[0]}`
      : optionalOnly(
          conversion,
          others,
          more,
          typeof schema.minProperties === 'number' && schema.minProperties > 0,
        );
  return book.add(`"{" ${ws} ${inner} ${ws} "}"`);
}

/**
 * Returns the properties with a known name: the listed ones, those that `propertyNames` lists, and those that are
 * only required. Throws ImpossibleSchema for a required name that is not allowed.
 */
function propertiesOf(schema: Schema, required: ReadonlySet<unknown>, at: string): [string, unknown][] {
  const listed = isSchema(schema.properties) ? schema.properties : {};
  const value = unlistedSchema(schema);
  const missing = [...required].find((name) => !Object.hasOwn(listed, String(name)));
  if (value === false && missing !== undefined)
    throw new ImpossibleSchema(
      at,
      `"required" names ${JSON.stringify(missing)}, which is not in "properties"`,
    );
  const named = value === false ? [] : [...required, ...(possibleNames(schema) ?? [])];
  const unlisted = new Set(named.map(String).filter((name) => !Object.hasOwn(listed, name)));
  return [...Object.entries(listed), ...[...unlisted].map((name): [string, unknown] => [name, value])];
}

/** Returns the names that `propertyNames` lists. Null when it lists none. */
function possibleNames({ propertyNames }: Schema): readonly unknown[] | null {
  if (!isSchema(propertyNames)) return null;
  if ('const' in propertyNames) return [propertyNames.const];
  return Array.isArray(propertyNames.enum) ? propertyNames.enum : null;
}

/** Returns the schema of a property that is not listed. The patterns of names are not enforced. */
function unlistedSchema(schema: Schema): unknown {
  const byPattern = isSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
  if (byPattern.length === 0) return schema.additionalProperties ?? true;
  const { additionalProperties: other = false } = schema;
  return { anyOf: [...byPattern, ...(other === false ? [] : [other])] };
}

/**
 * `tails[i]` matches any of the properties from index i on, each after a comma. The last one matches
 * additional properties.
 */
function tails({ book }: Conversion, others: readonly string[], more: string | null): string[] {
  const all = [book.add(more === null ? '""' : `("," ws ${more})*`)];
  for (const other of [...others].reverse()) {
    const next = all[0] as string;
    all.unshift(book.add(`"," ws ${other} ${next} | ${next}`));
  }
  return all;
}

/**
 * Handles objects without required properties: the first property has no comma before it. `filled`: at least one
 * property must follow.
 */
function optionalOnly(
  conversion: Conversion,
  others: readonly string[],
  more: string | null,
  filled: boolean,
): string {
  const rest = tails(conversion, others, more);
  const starts = others.map((other, i) => `${other} ${rest[i + 1]}`);
  if (more !== null) starts.push(`${more} ${rest.at(-1)}`);
  return starts.length === 0 ? '' : `(${starts.join(' | ')})${filled ? '' : '?'}`;
}

/** Returns the rule of a property with any other name than `listed`. Null when none is allowed. */
function additional(
  conversion: Conversion,
  schema: Schema,
  listed: readonly string[],
  { at, root }: { at: string; root: Schema },
): string | null {
  const isOpen =
    !isSchema(schema.properties) || 'additionalProperties' in schema || 'patternProperties' in schema;
  const value = unlistedSchema(schema);
  if (!isOpen || value === false || possibleNames(schema) !== null) return null;
  const { book, convert } = conversion;
  const name = nameRule(conversion, schema.propertyNames, listed, { at, root });
  return book.add(`${name} ":" ws ${convert(value, joinPath(at, 'additionalProperties'), root)}`);
}

function nameRule(
  { book, convert, relax }: Conversion,
  propertyNames: unknown,
  listed: readonly string[],
  { at, root }: { at: string; root: Schema },
): string {
  const isFree = !isSchema(propertyNames) || Object.keys(propertyNames).every((key) => key === 'type');
  if (!isFree && listed.length === 0)
    return convert({ type: 'string', ...propertyNames }, joinPath(at, 'propertyNames'), root);
  if (!isFree) relax('propertyNames');
  return listed.length === 0 ? book.primitive('string') : book.add(otherNames(listed));
}
