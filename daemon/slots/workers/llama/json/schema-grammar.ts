import { arrayRule } from './array-rule.ts';
import { numberRule } from './number-rule.ts';
import { objectRule } from './object-rule.ts';
import { literal, RuleBook } from './rule-book.ts';
import { SchemaFault } from './schema-fault.ts';
import { resolve } from './schema-reference.ts';
import { stringRule } from './string-rule.ts';

export type Schema = Readonly<Record<string, unknown>>;

export interface SchemaOptions {
  /** True: a keyword that a grammar cannot keep is a fault. False: it is left out. */
  strict: boolean;
}

/** What the rules of one kind of value need from the whole. */
export interface Conversion {
  readonly book: RuleBook;
  readonly strict: boolean;
  /** The rule for a schema at `at`; `root` is where its references begin. */
  convert(schema: unknown, at: string, root: Schema): string;
}

/** Constraints that no rule here keeps. */
const NOT_KEPT = [
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
  'contains',
  'minContains',
  'maxContains',
  'uniqueItems',
  'multipleOf',
  '$dynamicRef',
  '$recursiveRef',
] as const;

const DEEPEST = 64;

/**
 * GBNF for the JSON texts that fit `schema`. Properties come in the order of the schema, the required ones first; what
 * `additionalProperties` does not name is allowed only where the schema lists no properties. Throws SchemaFault.
 */
export function schemaGrammar(schema: unknown, options: SchemaOptions): string {
  const book = new RuleBook();
  return book.grammar(converter(book, options).convert(schema, '', isSchema(schema) ? schema : {}));
}

/** The conversion of {@link schemaGrammar} over a book of one's own. */
export function converter(book: RuleBook, { strict }: SchemaOptions): Conversion {
  const references = new Map<unknown, string>();
  let depth = 0;
  const conversion: Conversion = {
    book,
    strict,
    convert(schema, at, root) {
      if (depth >= DEEPEST) throw new SchemaFault(at, `the schema is nested deeper than ${DEEPEST}`);
      depth += 1;
      try {
        return rule(conversion, references, { schema, at, root });
      } finally {
        depth -= 1;
      }
    },
  };
  return conversion;
}

interface Place {
  schema: unknown;
  at: string;
  root: Schema;
}

function rule(conversion: Conversion, references: Map<unknown, string>, { schema, at, root }: Place): string {
  const { book, convert } = conversion;
  if (schema === true) return book.primitive('value');
  if (!isSchema(schema)) throw new SchemaFault(at, 'a schema must be an object or true');
  if (conversion.strict) refuseNotKept(schema, at);
  if (typeof schema.$ref === 'string')
    return reference(conversion, references, { ref: schema.$ref, at, root });
  if ('const' in schema) return literal(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum))
    return alternatives(
      schema.enum.map((v) => literal(JSON.stringify(v))),
      at,
    );
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices))
    return book.add(
      alternatives(
        choices.map((choice, i) => convert(choice, join(at, `anyOf.${i}`), root)),
        at,
      ),
    );
  if (Array.isArray(schema.allOf)) return single(conversion, { schema, at, root });
  if (Array.isArray(schema.type))
    return alternatives(
      schema.type.map((type) => typed(conversion, { schema, at, root }, type)),
      at,
    );
  return typed(conversion, { schema, at, root }, schema.type ?? implied(schema));
}

/** Each kind of value by its type word. */
const TYPES: Readonly<
  Record<string, (conversion: Conversion, schema: Schema, at: string, root: Schema) => string>
> = {
  object: objectRule,
  array: arrayRule,
  string: stringRule,
  number: numberRule,
  integer: numberRule,
  boolean: ({ book }) => book.primitive('boolean'),
  null: ({ book }) => book.primitive('null'),
  any: ({ book }) => book.primitive('value'),
};

function typed(conversion: Conversion, { schema, at, root }: Place, type: unknown): string {
  const make = typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (make === undefined) throw new SchemaFault(at, `the type ${JSON.stringify(type)} is not known`);
  return make(conversion, isSchema(schema) ? { ...schema, type } : {}, at, root);
}

function implied(schema: Schema): string {
  if ('properties' in schema || 'additionalProperties' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  return 'any';
}

/** `allOf` of one schema is that schema with what stands beside it. */
function single({ convert }: Conversion, { schema, at, root }: Place): string {
  const { allOf, ...beside } = schema as Schema & { allOf: unknown[] };
  if (allOf.length !== 1) throw new SchemaFault(at, '"allOf" of several schemas is not supported');
  return convert(isSchema(allOf[0]) ? { ...beside, ...allOf[0] } : allOf[0], join(at, 'allOf.0'), root);
}

function reference(
  { book, convert }: Conversion,
  references: Map<unknown, string>,
  { ref, at, root }: { ref: string; at: string; root: Schema },
): string {
  const target = resolve(ref, root);
  if (target === undefined) throw new SchemaFault(at, `the reference ${JSON.stringify(ref)} leads nowhere`);
  const known = references.get(target);
  if (known !== undefined) return known;
  const name = book.reserve();
  references.set(target, name);
  return book.set(name, convert(target, join(at, ref), root));
}

function refuseNotKept(schema: Schema, at: string): void {
  const found = NOT_KEPT.find((keyword) => keyword in schema);
  if (found !== undefined) throw new SchemaFault(at, `"${found}" is not supported`);
}

function alternatives(rules: readonly string[], at: string): string {
  if (rules.length === 0) throw new SchemaFault(at, 'no value fits an empty list');
  return rules.length === 1 ? (rules[0] as string) : `(${rules.join(' | ')})`;
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const join = (at: string, next: string): string => (at === '' ? next : `${at}.${next}`);
