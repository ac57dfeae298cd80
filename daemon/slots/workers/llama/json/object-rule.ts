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
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  refuseUnlisted(required, new Set(properties.map(([name]) => name)), conversion, at);
  const ws = book.primitive('ws');
  const pair = ([name, value]: [string, unknown]): string =>
    `${literal(JSON.stringify(name))} ":" ${ws} ${conversion.convert(value, joinPath(at, `properties.${name}`), root)}`;
  const first = properties.filter(([name]) => required.has(name)).map(pair);
  const others = properties
    .filter(([name]) => !required.has(name))
    .map((entry) => unlessImpossible(() => book.add(pair(entry))))
    .filter((rule) => rule !== null);
  const more = additional(conversion, schema, at, root);
  const inner =
    first.length > 0
      ? `${first.join(` "," ${ws} `)} ${tails(conversion, others, more)[0]}`
      : optionalOnly(conversion, others, more);
  return book.add(`"{" ${ws} ${inner} ${ws} "}"`);
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

/** Handles objects without required properties: the first property has no comma before it. */
function optionalOnly(conversion: Conversion, others: readonly string[], more: string | null): string {
  const rest = tails(conversion, others, more);
  const starts = others.map((other, i) => `${other} ${rest[i + 1]}`);
  if (more !== null) starts.push(`${more} ${rest.at(-1)}`);
  return starts.length === 0 ? '' : `(${starts.join(' | ')})?`;
}

function additional({ book, convert }: Conversion, schema: Schema, at: string, root: Schema): string | null {
  const allowed = schema.additionalProperties ?? !isSchema(schema.properties);
  if (allowed === false) return null;
  const listed = isSchema(schema.properties) ? Object.keys(schema.properties) : [];
  const name = listed.length === 0 ? book.primitive('string') : book.add(otherNames(listed));
  return book.add(`${name} ":" ws ${convert(allowed, joinPath(at, 'additionalProperties'), root)}`);
}

function refuseUnlisted(
  required: ReadonlySet<unknown>,
  listed: ReadonlySet<unknown>,
  { strict }: Conversion,
  at: string,
): void {
  const missing = [...required].find((name) => !listed.has(name));
  if (missing !== undefined && strict)
    throw new ImpossibleSchema(
      at,
      `"required" names ${JSON.stringify(missing)}, which is not in "properties"`,
    );
}
