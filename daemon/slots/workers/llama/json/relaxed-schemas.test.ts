import { expect, test } from 'vitest';
import { cpuTimer } from '../../../../lib/testing/cpu-time.ts';
import { grammarJudge } from '../../testing/grammar-judge.ts';
import { schemaGrammar } from './schema-grammar.ts';

const fitter = grammarJudge();

const object = (properties: object, required: string[] = [], more: object = {}) => ({
  type: 'object',
  properties,
  required,
  ...more,
});

/** Returns the grammar and the names of what it does not enforce. */
function relaxedGrammar(schema: unknown, strict: boolean) {
  const names = new Set<string>();
  const grammar = schemaGrammar(schema, { strict, relax: (name) => names.add(name) });
  return { grammar, names: [...names] };
}

const long = 'x'.repeat(3_000);

/** A schema, the keywords that are not enforced, texts that the grammar accepts, and texts that it does not. */
const RELAXED: [object, string[], unknown[], unknown[]][] = [
  [{ type: 'string', format: 'password', minLength: 2 }, ['format:password'], ['ab'], ['a', 1]],
  [{ type: 'string', format: 'binary' }, ['format:binary'], ['any'], [1]],
  [{ type: 'string', format: 'date', pattern: '^2' }, ['format:date'], ['2x'], ['3']],
  [
    { type: 'string', format: 'uuid', maxLength: 5 },
    ['maxLength'],
    ['123e4567-e89b-12d3-a456-426614174000'],
    ['abc'],
  ],
  [{ type: 'string', format: 'email', pattern: '^(?!\\.)' }, ['pattern'], ['a@b.org'], ['a']],
  [{ type: 'string', maxLength: 5_000, minLength: 1 }, ['maxLength'], ['a', long], ['']],
  [{ type: 'string', minLength: 2_500 }, ['minLength'], [long], ['a']],
  [{ type: 'string', pattern: '^a+b$', maxLength: 5 }, ['maxLength'], ['aaaaaaab'], ['b']],
  [{ type: 'string', pattern: '\\bfoo\\b' }, ['pattern'], ['foo', 'bar'], [1]],
  [{ type: 'string', pattern: '^\\p{L}+$' }, ['pattern'], ['Å', '5'], [1]],
  [{ type: 'string', pattern: '(?i)^abc$', maxLength: 3 }, ['pattern'], ['ABC'], ['abcd']],
  [{ type: 'string', pattern: '^(?P<n>a)$' }, ['pattern'], ['a'], [1]],
  [{ enum: ['a', 'b'], pattern: '^a' }, ['pattern'], ['a', 'b'], ['c']],
  [{ allOf: [{ type: 'string', pattern: '^a' }, { pattern: 'b$' }] }, ['pattern'], ['ac'], ['b']],
  [{ type: 'integer', multipleOf: 5 }, ['multipleOf'], [5, 6], [1.5]],
  [{ type: 'number', minimum: 1e20, maximum: 5 }, ['minimum'], [5, -1], [6]],
  [
    { type: 'number', exclusiveMinimum: -3.4e38, maximum: 3.4e38 },
    ['exclusiveMinimum', 'maximum'],
    [1e30],
    ['x'],
  ],
  [{ type: 'array', items: { type: 'integer' }, uniqueItems: true }, ['uniqueItems'], [[1, 1]], [['x']]],
  [{ type: 'array', items: { type: 'null' }, maxItems: 100_000, minItems: 1 }, ['maxItems'], [[null]], [[]]],
  [{ type: 'array', contains: { const: 1 } }, ['contains'], [[2]], [1]],
  [
    { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 2, maxProperties: 3 },
    ['minProperties', 'maxProperties'],
    [{ a: 1 }],
    [{}, { a: 'x' }],
  ],
  [
    { type: 'object', patternProperties: { '^a': { type: 'integer' } }, additionalProperties: false },
    ['patternProperties'],
    [{}, { abc: 1 }, { b: 1 }],
    [{ abc: 'x' }],
  ],
  [
    object({ a: { type: 'null' } }, ['a'], { patternProperties: { '^x-': { type: 'string' } } }),
    ['patternProperties'],
    [{ a: null }, { a: null, 'x-b': 'c' }],
    [{}, { a: null, 'x-b': 1 }],
  ],
  [
    object({ ab: { type: 'null' } }, [], { propertyNames: { minLength: 2 }, additionalProperties: true }),
    ['propertyNames'],
    [{ ab: null, c: 1 }],
    [{ ab: 1 }],
  ],
  [object({ a: {} }, [], { dependentRequired: { a: ['b'] } }), ['dependentRequired'], [{ a: 1 }], [1]],
  [{ allOf: [object({ a: {} })], unevaluatedProperties: false }, ['unevaluatedProperties'], [{ a: 1 }], [1]],
];

test.each(RELAXED)('%j is enforced except %j, strict or not', async (schema, names, fits, not) => {
  for (const strict of [true, false]) {
    const relaxed = relaxedGrammar(schema, strict);
    expect(relaxed.names).toEqual(names);
    const takes = await fitter(relaxed.grammar);
    for (const value of fits) expect(takes(JSON.stringify(value)), JSON.stringify(value)).toBe(true);
    for (const value of not) expect(takes(JSON.stringify(value)), JSON.stringify(value)).toBe(false);
  }
});

/** What `strict: true` refuses: the rest of each schema is enforced without it. */
const ONLY_STRICT: [object, string[], unknown[], unknown[]][] = [
  [{ type: 'string', not: { const: 'a' }, maxLength: 1 }, ['not'], ['a', 'b'], ['ab']],
  [{ type: 'string', if: { minLength: 1 }, else: { maxLength: 1 } }, ['if', 'else'], ['ab'], [1]],
  [
    object({ a: { type: 'null' } }, ['a'], { dependentSchemas: { a: false } }),
    ['dependentSchemas'],
    [{ a: null }],
    [{}],
  ],
  [
    object({ a: { type: 'int' }, b: { type: 'null' } }, ['a', 'b']),
    ['schema'],
    [{ a: 'x', b: null }],
    [{ a: 1, b: 1 }],
  ],
  [object({ a: { $ref: 'https://example.org/x' } }, ['a']), ['schema'], [{ a: [1] }], [{}]],
  [{ type: 'array', minItems: '2' }, ['schema'], [[]], [1]],
];

test.each(ONLY_STRICT)(
  '%j is refused with strict, and enforced except %j without',
  async (schema, names, fits, not) => {
    expect(() => schemaGrammar(schema, { strict: true })).toThrow();
    const relaxed = relaxedGrammar(schema, false);
    expect(relaxed.names).toEqual(names);
    const takes = await fitter(relaxed.grammar);
    for (const value of fits) expect(takes(JSON.stringify(value)), JSON.stringify(value)).toBe(true);
    for (const value of not) expect(takes(JSON.stringify(value)), JSON.stringify(value)).toBe(false);
  },
);

test('a schema that is too deep or too large is enforced in part without strict', async () => {
  let deep: object = { type: 'string' };
  for (let i = 0; i < 200; i++) deep = { type: 'array', items: deep };
  const wide = object(
    Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { type: 'string', maxLength: i % 50 }]),
    ),
  );
  for (const [schema, not] of [
    [deep, '{}'],
    [wide, '[]'],
  ] as const) {
    const { grammar, names } = relaxedGrammar(schema, false);
    expect(names).toEqual(['schema']);
    const takes = await fitter(grammar);
    expect([takes(not), takes(schema === deep ? '[]' : '{}')]).toEqual([false, true]);
  }
});

/** Schemas that no value fits: the type that is left, and a text that does not have it. */
test.each<[object, unknown, unknown]>([
  [{ type: 'string', minLength: 5, maxLength: 2 }, 'any', 1],
  [{ type: 'array', minItems: 3, maxItems: 1 }, [1], {}],
  [{ type: 'array', items: false, minItems: 1 }, [1], {}],
  [object({ a: { type: 'string' } }, ['b'], { additionalProperties: false }), { a: 1 }, []],
  [object({ a: false }, ['a']), { a: 1 }, []],
  [object({ a: { enum: [] } }, ['a']), { a: 1 }, []],
  [{ type: 'object', allOf: [{ type: 'string' }] }, { a: 1 }, 'x'],
  [{ type: 'string', const: 1 }, 'any', 1],
])('a contradictory schema %j leaves its type', async (schema, fits, not) => {
  expect(() => schemaGrammar(schema, { strict: true })).toThrow();
  const { grammar, names } = relaxedGrammar(schema, false);
  expect(names).toContain('schema');
  const takes = await fitter(grammar);
  expect([takes(JSON.stringify(fits)), takes(JSON.stringify(not))]).toEqual([true, false]);
});

test.each<[object]>([
  [{ enum: [] }],
  [{ allOf: [{ type: 'string' }, { type: 'integer' }] }],
  [{ anyOf: [{ enum: [] }, false] }],
  [{ not: {} }],
])('a contradictory schema %j without a type is left to the model', async (schema) => {
  const { grammar, names } = relaxedGrammar(schema, false);
  expect(names).toContain('schema');
  const takes = await fitter(grammar);
  expect([takes('"x"'), takes('{"a":1}'), takes('x')]).toEqual([true, true, false]);
});

test('20,000 listed values cost little', () => {
  const values = Array.from({ length: 20_000 }, (_, i) => `value ${i}`);
  const cpuMs = cpuTimer();
  for (const schema of [
    object({ a: { type: 'string', enum: values } }, ['a']),
    { type: 'string', minLength: 3, enum: values },
    { allOf: [{ enum: values }, { enum: values }] },
    { type: 'array', items: { enum: values } },
    { anyOf: [{ enum: values }, { type: 'null' }] },
    { oneOf: values.map((value) => ({ const: value })) },
  ])
    expect(schemaGrammar(schema, { strict: true }).length).toBeGreaterThan(values.length);
  expect(cpuMs()).toBeLessThan(5_000);
});
