import { arrayRule } from './array-rule.ts';
import type { Conversion } from './conversion.ts';
import { fitsSchema } from './fits-schema.ts';
import { literalChoice } from './literal-choice.ts';
import { hasOtherConstraints, mergedAlternatives, type SchemaLocation } from './merge-schemas.ts';
import { numberRule } from './number-rule.ts';
import { objectRule } from './object-rule.ts';
import { RuleBook } from './rule-book.ts';
import { ImpossibleSchema, SchemaFault, unlessImpossible } from './schema-error.ts';
import { resolve } from './schema-reference.ts';
import { isSchema, joinPath, type Schema } from './schema-shape.ts';
import { stringRule } from './string-rule.ts';

export interface SchemaOptions {
  /**
   * True: throws for a keyword that changes the meaning, and for a broken or too complex schema. False: relaxes
   * them too.
   */
  strict: boolean;
  /** Receives each keyword that the grammar does not enforce. */
  relax?: ((keyword: string) => void) | undefined;
}

/** Keywords whose omission would change the meaning of a schema. No rule enforces them. */
const REFUSED_KEYWORDS = ['not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'] as const;
/** Keywords that are left to the model. */
const RELAXED_KEYWORDS = [
  'patternProperties',
  'minProperties',
  'maxProperties',
  'dependentRequired',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'minContains',
  'maxContains',
  'uniqueItems',
  'multipleOf',
  '$dynamicRef',
  '$recursiveRef',
] as const;
/** Keywords that no rule enforces. */
export const UNSUPPORTED_KEYWORDS = [...REFUSED_KEYWORDS, ...RELAXED_KEYWORDS] as const;

/** Values of these keywords that need no rule, or have one. */
const UNRESTRICTING: Readonly<Record<string, readonly unknown[]>> = {
  not: [false],
  uniqueItems: [false],
  minProperties: [0, 1],
  unevaluatedProperties: [true],
  unevaluatedItems: [true],
};

const MAX_DEPTH = 64;
const MAX_MERGES = 10_000;

/**
 * Returns GBNF for the JSON texts that fit `schema` (docs/spec/contract.md#json-schemas). Properties follow the
 * order of the schema, required ones first. Unlisted properties are allowed only when the schema lists none or
 * `additionalProperties` allows them. Throws SchemaFault.
 */
export function schemaGrammar(schema: unknown, options: SchemaOptions): string {
  if (schema !== true && !isSchema(schema)) throw new SchemaFault('', 'a schema must be an object or true');
  const book = new RuleBook();
  return book.grammar(converter(book, options).convert(schema, '', isSchema(schema) ? schema : {}));
}

/** Creates the conversion of {@link schemaGrammar} that adds to an existing rule book. */
export function converter(book: RuleBook, { strict, relax = () => {} }: SchemaOptions): Conversion {
  const references = new Map<unknown, string>();
  let depth = 0;
  const conversion: Conversion = {
    book,
    relax,
    merges: { left: MAX_MERGES, relax },
    convert(schema, at, root) {
      depth += 1;
      try {
        if (depth > MAX_DEPTH) throw new SchemaFault(at, `the schema is nested deeper than ${MAX_DEPTH}`);
        return rule(conversion, strict, references, { schema, at, root });
      } catch (error) {
        // Below the root, an alternative that no value fits is left out.
        const isLeftOut = error instanceof ImpossibleSchema && depth > 1;
        if (strict || !(error instanceof SchemaFault) || isLeftOut) throw error;
        relax('schema');
        return book.primitive(isSchema(schema) ? freeType(schema) : 'value');
      } finally {
        depth -= 1;
      }
    },
  };
  return conversion;
}

/** Returns the rule of any value of the schema's type. */
function freeType(schema: Schema): 'object' | 'array' | 'string' | 'value' {
  const type = schema.type ?? implied(schema);
  return type === 'object' || type === 'array' || type === 'string' ? type : 'value';
}

function rule(
  conversion: Conversion,
  strict: boolean,
  references: Map<unknown, string>,
  { schema, at, root }: SchemaLocation,
): string {
  const { book, convert } = conversion;
  if (schema === true) return book.primitive('value');
  if (schema === false) throw new ImpossibleSchema(at, 'no value fits "false"');
  if (!isSchema(schema)) throw new SchemaFault(at, 'a schema must be an object or a boolean');
  checkUnsupported(conversion, strict, schema, at);
  if (typeof schema.$ref === 'string' && !hasOtherConstraints(schema, '$ref'))
    return reference(conversion, references, { ref: schema.$ref, at, root });
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices) && !hasOtherConstraints(schema, 'anyOf' in schema ? 'anyOf' : 'oneOf')) {
    const values = listedByAll(choices, root);
    if (values !== null) return listedValues({ schema, at, root }, { enum: values });
    return book.add(
      possible(
        choices.map((choice, i) => () => convert(choice, joinPath(at, `anyOf.${i}`), root)),
        at,
      ),
    );
  }
  if (COMBINED.some((keyword) => keyword in schema))
    return possible(
      mergedAlternatives({ schema, at, root }, conversion.merges).map((one) => () => convert(one, at, root)),
      at,
    );
  if ('const' in schema || Array.isArray(schema.enum)) {
    if ('pattern' in schema) conversion.relax('pattern');
    return listedValues({ schema, at, root }, schema);
  }
  if (Array.isArray(schema.type))
    return alternatives(
      schema.type.map((type) => typed(conversion, { schema, at, root }, type)),
      at,
    );
  return typed(conversion, { schema, at, root }, schema.type ?? implied(schema));
}

/** The converter of each JSON type. */
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

function typed(conversion: Conversion, { schema, at, root }: SchemaLocation, type: unknown): string {
  const make = typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (make === undefined) throw new SchemaFault(at, `the type ${JSON.stringify(type)} is unknown`);
  return make(conversion, isSchema(schema) ? { ...schema, type } : {}, at, root);
}

const STRING_WORDS = ['pattern', 'format', 'minLength', 'maxLength'] as const;
const NUMBER_WORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

/** Returns the type implied by the keywords when the schema names none. */
function implied(schema: Schema): string {
  if (STRING_WORDS.some((word) => word in schema)) return 'string';
  if (NUMBER_WORDS.some((word) => word in schema)) return 'number';
  if ('properties' in schema || 'additionalProperties' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  return 'any';
}

const COMBINED = ['$ref', 'allOf', 'anyOf', 'oneOf'] as const;

/** Returns the values that a schema lists, and its other keywords. To look each value up in its own list takes quadratic time. */
function listed(schema: Schema): [readonly unknown[], Schema] {
  const { enum: values, ...others } = schema;
  if (Array.isArray(values)) return [values, others];
  const { const: value, ...rest } = schema;
  return [[value], rest];
}

/** Returns the rule of the values that the schema lists, limited to those that fit its other keywords. */
function listedValues({ at, root }: SchemaLocation, schema: Schema): string {
  const [values, others] = listed(schema);
  const fitting = values.filter((value) => fitsSchema(value, others, root));
  if (fitting.length === 0) throw new ImpossibleSchema(at, 'no value fits an empty list');
  return literalChoice(
    fitting.map((value) => JSON.stringify(value)),
    at,
  );
}

/**
 * Returns the values of alternatives that list values and nothing else, as `z.union` of literals makes them. Null when one
 * does something else.
 */
function listedByAll(choices: readonly unknown[], root: Schema): unknown[] | null {
  const values: unknown[] = [];
  for (const choice of choices) {
    if (!isSchema(choice) || !('const' in choice || Array.isArray(choice.enum))) return null;
    const [own, others] = listed(choice);
    if (hasOtherConstraints(others, 'type')) return null;
    for (const value of own) if (fitsSchema(value, others, root)) values.push(value);
  }
  return values;
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
  try {
    return book.set(name, convert(target, joinPath(at, ref), root));
  } catch (error) {
    // Rules that refer to this one may already exist.
    references.delete(target);
    book.set(name, NOTHING);
    throw error;
  }
}

/** Matches no character. */
const NOTHING = String.raw`[^\x00-\U0010FFFF]`;

function checkUnsupported({ relax }: Conversion, strict: boolean, schema: Schema, at: string): void {
  const has = (keyword: string): boolean =>
    keyword in schema && UNRESTRICTING[keyword]?.includes(schema[keyword]) !== true;
  if (schema.not === true || (isSchema(schema.not) && Object.keys(schema.not).length === 0))
    throw new ImpossibleSchema(at, '"not" excludes every value');
  const refused = REFUSED_KEYWORDS.filter(has);
  if (strict && refused[0] !== undefined) throw new SchemaFault(at, `"${refused[0]}" is not supported`);
  for (const keyword of [...refused, ...RELAXED_KEYWORDS.filter(has)]) relax(keyword);
}

/** Returns the alternatives that some value fits. When there are none, throws the error of the first. */
function possible(makers: readonly (() => string)[], at: string): string {
  const rules = makers.map(unlessImpossible).filter((rule) => rule !== null);
  const [first] = makers;
  return rules.length === 0 && first !== undefined ? first() : alternatives(rules, at);
}

function alternatives(rules: readonly string[], at: string): string {
  if (rules.length === 0) throw new ImpossibleSchema(at, 'no value fits an empty list');
  return rules.length === 1 ? (rules[0] as string) : `(${rules.join(' | ')})`;
}
