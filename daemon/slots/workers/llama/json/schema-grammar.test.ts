import { describe, expect, test } from 'vitest';
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
const TREE = {
  $ref: '#/$defs/Node',
  $defs: {
    Node: object({ v: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] } }, [
      'v',
      'next',
    ]),
  },
};

interface Case {
  schema: unknown;
  fits: unknown[];
  not: unknown[];
}

const CASES: Record<string, Case> = {
  'required properties in order': {
    schema: object({ a: { type: 'string' }, n: { type: 'integer' } }, ['a', 'n'], {
      additionalProperties: false,
    }),
    fits: [{ a: 'x "y" \\ \n ü', n: -12 }],
    not: [{ n: 1, a: 'x' }, { a: 'x' }, { a: 'x', n: 1.5 }, { a: 'x', n: 1, b: 2 }, [], 'x'],
  },
  'optional properties, any of them': {
    schema: object({ a: { type: 'null' }, b: { type: 'boolean' }, c: { type: 'number' } }, ['b']),
    fits: [{ b: true }, { b: false, a: null }, { b: true, c: 1e-5 }, { b: true, a: null, c: -0.25 }],
    not: [{}, { a: null }, { b: true, c: 1, a: null }, { b: true, d: 1 }],
  },
  'nothing required': {
    schema: object({ a: { type: 'null' }, b: { type: 'null' } }),
    fits: [{}, { a: null }, { b: null }, { a: null, b: null }],
    not: [{ c: null }, { b: null, a: null }],
  },
  'additional properties': {
    schema: object({ a: { type: 'null' } }, ['a'], { additionalProperties: { type: 'integer' } }),
    fits: [{ a: null }, { a: null, x: 1, y: 2 }],
    not: [{ a: null, x: 'no' }, { x: 1 }],
  },
  'a map': {
    schema: { type: 'object', additionalProperties: { type: 'boolean' } },
    fits: [{}, { x: true, y: false }],
    not: [{ x: 1 }],
  },
  'any object': { schema: { type: 'object' }, fits: [{}, { a: [1, { b: null }] }], not: [[], 1, 'x'] },
  'any value': { schema: {}, fits: [1, 'x', [], { a: 1 }, null, true], not: [] },
  'a list with bounds': {
    schema: { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 3 },
    fits: [[1], [1, 2, 3]],
    not: [[], [1, 2, 3, 4], ['x']],
  },
  'an open list': {
    schema: { type: 'array', minItems: 2 },
    fits: [
      [1, 'x'],
      [1, 2, 3],
    ],
    not: [[], [1]],
  },
  'an empty list': { schema: { type: 'array', maxItems: 0 }, fits: [[]], not: [[1]] },
  'a tuple': {
    schema: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
    fits: [['x', 1]],
    not: [['x'], ['x', 1, 2], [1, 'x']],
  },
  'a tuple with further items': {
    schema: { prefixItems: [{ type: 'string' }], items: { type: 'integer' }, minItems: 2, maxItems: 3 },
    fits: [
      ['x', 1],
      ['x', 1, 2],
    ],
    not: [['x'], ['x', 1, 2, 3]],
  },
  'alternatives that list values': {
    schema: object(
      { a: { anyOf: [{ const: 'on', title: 'On' }, { enum: ['off', 1] }, { type: 'string', const: 5 }] } },
      ['a'],
    ),
    fits: [{ a: 'on' }, { a: 'off' }, { a: 1 }],
    not: [{ a: 'o' }, { a: 5 }, { a: 'onoff' }],
  },
  'alternatives of values and other schemas': {
    schema: object(
      { a: { anyOf: [{ const: 'on' }, { type: 'boolean' }, { enum: ['abc', 'x'], maxLength: 2 }] } },
      ['a'],
    ),
    fits: [{ a: 'on' }, { a: true }, { a: 'x' }],
    not: [{ a: 'off' }, { a: 'abc' }],
  },
  'an enum and a const': {
    schema: object({ e: { enum: ['red', 5, null, { a: 1 }] }, c: { const: 'fix "ed"' } }, ['e', 'c']),
    fits: [
      { e: 'red', c: 'fix "ed"' },
      { e: 5, c: 'fix "ed"' },
      { e: null, c: 'fix "ed"' },
    ],
    not: [
      { e: 'blue', c: 'fix "ed"' },
      { e: 'red', c: 'other' },
    ],
  },
  'several types': {
    schema: { type: ['string', 'null'], maxLength: 2 },
    fits: ['ab', null],
    not: ['abc', 1],
  },
  'one of several': {
    schema: { oneOf: [{ type: 'boolean' }, object({ k: { const: 1 } }, ['k'])] },
    fits: [true, { k: 1 }],
    not: [{ k: 2 }, 'x'],
  },
  'all of one': { schema: { allOf: [{ type: 'string' }], description: 'x' }, fits: ['a'], not: [1] },
  'a string by length': {
    schema: { type: 'string', minLength: 2, maxLength: 3 },
    fits: ['ab', 'ü日x'],
    not: ['a', 'abcd'],
  },
  'dates and ids': {
    schema: object(
      {
        d: { type: 'string', format: 'date' },
        t: { type: 'string', format: 'date-time' },
        u: { type: 'string', format: 'uuid' },
      },
      ['d', 't', 'u'],
    ),
    fits: [{ d: '2026-02-28', t: '2026-02-28T23:59:59.123Z', u: '123e4567-e89b-12d3-a456-426614174000' }],
    not: [{ d: '2026-13-01', t: '2026-02-28T23:59:59Z', u: '123e4567-e89b-12d3-a456-426614174000' }],
  },
  'a recursive schema': {
    schema: TREE,
    fits: [{ v: 1, next: { v: 2, next: { v: 3, next: null } } }],
    not: [{ v: 1 }, { v: 1, next: 2 }],
  },
  'bounded integers': {
    schema: { type: 'integer', minimum: -3, exclusiveMaximum: 12 },
    fits: [-3, -1, 0, 9, 11],
    not: [-4, 12, 1.5],
  },
  'bounded numbers': {
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 1.5 },
    fits: [0.001, 1, 1.5],
    not: [0, -1, 1.51, 2],
  },
  'all of several, merged': {
    schema: {
      allOf: [
        { $ref: '#/$defs/Base' },
        object({ b: { type: 'number', maximum: 9 } }, ['b'], { additionalProperties: { type: 'null' } }),
      ],
      $defs: { Base: object({ a: { type: ['string', 'null'] }, b: { type: 'integer' } }, ['a']) },
    },
    fits: [{ a: null, b: 5 }],
    not: [{ a: 'x', b: 5 }, { b: 5 }, { a: null, b: 10 }, { a: null, b: 1.5 }],
  },
  'one of several, combined with common keywords': {
    schema: object({ kind: { type: 'string' }, n: { type: 'integer' } }, ['kind'], {
      oneOf: [
        { properties: { kind: { const: 'a' } } },
        { properties: { kind: { const: 'b' } }, required: ['n'] },
      ],
    }),
    fits: [{ kind: 'a' }, { kind: 'a', n: 1 }, { kind: 'b', n: 1 }],
    not: [{ kind: 'b' }, { kind: 'c' }, { n: 1 }],
  },
  'alternatives that nothing matches are dropped alone': {
    schema: {
      anyOf: [
        { type: 'integer', minimum: 5, maximum: 4 },
        { allOf: [{ const: 1 }, { const: 2 }] },
        { type: 'null' },
      ],
    },
    fits: [null],
    not: [1, 2, 5],
  },
  'a pattern with a length, and an unanchored pattern': {
    schema: object({ a: { pattern: '^[a-z]+$', maxLength: 3 }, b: { type: 'string', pattern: 'x' } }, [
      'a',
      'b',
    ]),
    fits: [{ a: 'abc', b: 'see "x"?' }],
    not: [
      { a: 'abcd', b: 'x' },
      { a: 'A', b: 'x' },
      { a: 'a', b: 'y' },
    ],
  },
  'valid dates': {
    schema: { type: 'string', format: 'date' },
    fits: ['2024-02-29', '2000-02-29', '2026-12-31'],
    not: ['2026-02-29', '1900-02-29', '2026-04-31', '2026-00-01'],
  },
  addresses: {
    schema: object({ m: { type: 'string', format: 'email' }, i: { type: 'string', format: 'ipv4' } }, [
      'm',
      'i',
    ]),
    fits: [{ m: 'ann.b+c@mail.example-site.org', i: '192.168.0.255' }],
    not: [
      { m: 'ann@', i: '1.2.3.4' },
      { m: 'a@b.co', i: '1.2.3.256' },
    ],
  },
  'integers between the safe limits of JSON': {
    schema: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
    fits: [-9007199254740991, -1, 0, 1234567890123456, 9007199254740991],
    not: [1.5],
  },
  'integers between the ends of int64': {
    schema: { type: 'integer', minimum: -(2 ** 63), exclusiveMaximum: 2 ** 63 },
    fits: [-9007199254740991, 0, 9007199254740991],
    not: [2 ** 63, 1.5],
  },
  'a list of items with further ones, as in draft 7': {
    schema: {
      type: 'array',
      items: [{ type: 'string' }, { type: 'null' }],
      additionalItems: { type: 'integer' },
    },
    fits: [
      ['x', null],
      ['x', null, 1, 2],
    ],
    not: [['x'], [null, 'x'], ['x', null, 'x']],
  },
  'a closed list of items': {
    schema: { items: [{ type: 'string' }], additionalItems: false },
    fits: [['x']],
    not: [[], ['x', 'x']],
  },
  'exclusive bounds as booleans, as in draft 4': {
    schema: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false },
    fits: [1.5, 3],
    not: [1, 3.5],
  },
  'listed names of a map': {
    schema: {
      type: 'object',
      propertyNames: { type: 'string', enum: ['a', 'b', 'c'] },
      additionalProperties: { type: 'integer' },
      required: ['b'],
    },
    fits: [{ b: 1 }, { b: 1, a: 2 }, { b: 1, a: 2, c: 3 }],
    not: [{}, { a: 1 }, { b: 1, d: 1 }, { b: 'x' }],
  },
  'names of a map with a pattern': {
    schema: {
      type: 'object',
      propertyNames: { pattern: '^[a-z]{2}$' },
      additionalProperties: { type: 'null' },
    },
    fits: [{}, { ab: null, cd: null }],
    not: [{ a: null }, { ABC: null }, { ab: 1 }],
  },
  'names without a restriction': {
    schema: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: 'null' } },
    fits: [{}, { 'any name': null }],
    not: [{ a: 1 }],
  },
  'a map that is not empty': {
    schema: { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1 },
    fits: [{ a: 1 }],
    not: [{}],
  },
  'a required property that is not listed': {
    schema: object({ a: { type: 'null' } }, ['a', 'b'], { additionalProperties: { type: 'integer' } }),
    fits: [
      { a: null, b: 1 },
      { a: null, b: 1, c: 2 },
    ],
    not: [{ a: null }, { a: null, b: 'x' }],
  },
  'properties and alternatives that nothing fits': {
    schema: object({ a: { not: {} }, b: { anyOf: [false, { not: true }, { type: 'null' }] }, c: false }, [
      'b',
    ]),
    fits: [{ b: null }],
    not: [{ b: null, a: 1 }, { b: 1 }, { b: null, c: 1 }],
  },
  'more addresses and a duration': {
    schema: object(
      {
        u: { type: 'string', format: 'uri' },
        h: { type: 'string', format: 'hostname' },
        d: { type: 'string', format: 'duration' },
        i: { type: 'string', format: 'ipv6' },
      },
      ['u', 'h', 'd', 'i'],
    ),
    fits: [
      {
        u: 'https://a.example:8080/b/c.html?q=1&r#top',
        h: 'web-1.example.org',
        d: 'P1DT2H30M',
        i: '2001:db8:0:0:0:0:0:1',
      },
      { u: 'mailto:ann@example.org', h: 'localhost', d: 'PT0S', i: 'fe80:0:0:0:1:2:3:ffff' },
      { u: 'file:a', h: 'a.b', d: 'P2W', i: '0:0:0:0:0:0:0:0' },
    ],
    not: [
      { u: 'no scheme', h: 'a', d: 'P1D', i: '0:0:0:0:0:0:0:0' },
      { u: 'a:b', h: '-a', d: 'P1D', i: '0:0:0:0:0:0:0:0' },
      { u: 'ab:b', h: 'a', d: '1 day', i: '0:0:0:0:0:0:0:0' },
      { u: 'ab:b', h: 'a', d: 'P', i: '0:0:0:0:0:0:0:0' },
      { u: 'ab:b', h: 'a', d: 'P1D', i: '1.2.3.4' },
    ],
  },
  'patterns with needless escapes': {
    schema: object(
      {
        a: { type: 'string', pattern: '^\\d{3}\\-\\d{4}$' },
        b: { type: 'string', pattern: '^[\\w-.]\\ \\@$' },
      },
      ['a', 'b'],
    ),
    fits: [
      { a: '123-4567', b: 'x @' },
      { a: '123-4567', b: '- @' },
    ],
    not: [
      { a: '1234567', b: 'x @' },
      { a: '123-4567', b: '/ @' },
    ],
  },
  'keywords that only describe': {
    schema: {
      $schema: 'x',
      title: 't',
      type: 'string',
      description: 'd',
      default: 'q',
      examples: ['x'],
      'x-own': 1,
    },
    fits: ['a'],
    not: [1],
  },
};

describe.each(Object.entries(CASES))('%s', (_, { schema, fits, not }) => {
  test('llama.cpp accepts exactly what fits, compact or spaced', async () => {
    const takes = await fitter(schemaGrammar(schema, { strict: true }));
    for (const value of fits) {
      expect(takes(JSON.stringify(value)), JSON.stringify(value)).toBe(true);
      expect(takes(JSON.stringify(value, null, 2)), JSON.stringify(value)).toBe(true);
    }
    for (const value of not) expect(takes(JSON.stringify(value)), JSON.stringify(value)).toBe(false);
    expect(takes(`${JSON.stringify(fits[0])}\n`), 'nothing follows the value').toBe(false);
  });
});

test.each([
  [{ type: 'number', minimum: 1, exclusiveMaximum: 1 }, 'there is no number between'],
  [{ type: 'integer', minimum: 5, maximum: 4 }, 'there is no integer between'],
  [{ type: 'integer', minimum: 2 ** 60 }, 'there is no integer between'],
  [{ type: 'integer', maximum: '7' }, '"maximum" must be a number'],
  [{ type: 'array', maxItems: 1.5 }, '"maxItems" must be a whole number'],
  [{ type: 'array', minItems: 2, maxItems: 1 }, '"maxItems" is less than "minItems"'],
  [{ pattern: '^a{5}$', maxLength: 4 }, 'no length fits'],
  [{ not: { type: 'string' } }, '"not"'],
  [{ type: 'string', if: {}, else: { maxLength: 5 } }, '"if"'],
  [{ type: 'object', dependentSchemas: { a: { required: ['b'] } } }, '"dependentSchemas"'],
  [object({ a: { anyOf: [{ type: 'null' }, { not: { const: 1 } }] } }), 'properties.a.anyOf.1: "not"'],
  [{ allOf: [{ type: 'string' }, { type: 'integer' }] }, 'no value fits all of its parts'],
  [{ allOf: [{ type: 'string' }, { not: {} }] }, '"not"'],
  [{ enum: ['a', 'b'], maxLength: 0 }, 'empty list'],
  [{ $ref: '#/$defs/Missing' }, 'leads nowhere'],
  [{ $ref: 'https://example.org/schema' }, 'leads nowhere'],
  [{ type: 'date' }, 'the type "date" is unknown'],
  [object({}, ['a'], { additionalProperties: false }), '"required" names "a"'],
  [{ enum: [] }, 'empty list'],
  [{ type: 'array', items: false, minItems: 1 }, '"minItems" is more than the 0 items'],
  [{ prefixItems: [true], items: false, minItems: 2 }, '"minItems" is more than the 1 items'],
  [[], 'a schema must be an object'],
  ['x', 'a schema must be an object'],
])('refuses %j with the reason', (schema, reason) => {
  expect(() => schemaGrammar(schema, { strict: true })).toThrow(reason);
});

test('limits depth and size', () => {
  let deep: object = { type: 'string' };
  for (let i = 0; i < 200; i++) deep = { type: 'array', items: deep };
  expect(() => schemaGrammar(deep, { strict: true })).toThrow('nested deeper');
  const wide = object(
    Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { type: 'string' }])),
  );
  expect(() => schemaGrammar(wide, { strict: true })).toThrow('too large');
});

test('refuses schemas that reference one another repeatedly, at low cost', () => {
  const level = (n: number) => ({ allOf: Array.from({ length: 20 }, () => ({ $ref: `#/$defs/L${n + 1}` })) });
  const $defs = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`L${n}`, level(n)]));
  const cpuMs = cpuTimer();
  expect(() =>
    schemaGrammar({ ...level(-1), $defs: { ...$defs, L6: { type: 'null' } } }, { strict: true }),
  ).toThrow('too many schemas');
  expect(cpuMs()).toBeLessThan(5_000);
});

const MANY = Array.from({ length: 10_000 }, (_, i) => `value_${i}`);
test.each<[string, unknown]>([
  ['a list', { enum: MANY }],
  ['a list with a type', { type: 'string', enum: MANY, minLength: 1 }],
  ['alternatives', { anyOf: MANY.map((value) => ({ type: 'string', const: value })) }],
  ['a list that two parts have', { allOf: [{ enum: MANY }, { enum: MANY }] }],
  ['a list and a type in two parts', { allOf: [{ enum: MANY }, { type: 'string' }] }],
])('10,000 values as %s', async (_, schema) => {
  const cpuMs = cpuTimer();
  const fits = await fitter(schemaGrammar(object({ a: schema }, ['a']), { strict: true }));
  expect(cpuMs()).toBeLessThan(2_000);
  expect([fits('{"a":"value_777"}'), fits('{"a":"value_10000"}')]).toEqual([true, false]);
});
