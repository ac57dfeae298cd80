import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { fitsSchema } from './fits-schema.ts';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const VALUES = [
  null,
  true,
  0,
  5,
  1.5,
  -3,
  '',
  'abc',
  'a-b',
  '🌸',
  [],
  [1, 'x'],
  [1, 2, 3],
  {},
  { a: 1 },
  { a: 'x', b: null },
];

test.each<[object]>([
  [{ type: ['string', 'integer'] }],
  [{ minLength: 1, maxLength: 3 }],
  [{ minimum: 0, exclusiveMaximum: 5 }],
  [{ exclusiveMinimum: 0, maximum: 5 }],
  [{ type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'string' }, maxItems: 2 }],
  [{ type: 'array', minItems: 1 }],
  [{ type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], additionalProperties: false }],
  [{ properties: { a: { type: 'string' } }, additionalProperties: { type: 'null' } }],
  [{ enum: [5, 'abc', { a: 1 }], not: false }],
  [{ const: [1, 'x'] }],
  [{ allOf: [{ type: 'number' }, { minimum: 1 }] }],
  [{ oneOf: [{ type: 'number' }, { minimum: 1 }] }],
  [{ anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }], $defs: { A: { type: 'boolean' } } }],
])('%j gives the same result as a validator', (schema) => {
  const validate = ajv.compile(schema);
  for (const value of VALUES)
    expect(fitsSchema(value, schema, schema as never), JSON.stringify(value)).toBe(validate(value));
});

test('does not run a pattern, which could run indefinitely', () => {
  const schema = { pattern: '^(a+)+$' };
  expect(fitsSchema(`${'a'.repeat(50)}!`, schema, schema)).toBe(true);
  expect(fitsSchema(5, schema, schema)).toBe(true);
});

test('accepts every text for an unknown format, also one named like an object property', () => {
  for (const format of ['odd', 'constructor', '__proto__'])
    expect(fitsSchema('x', { enum: ['x'], format }, {})).toBe(true);
});

test.each([
  ['date', ['2024-02-29', '2023-02-29', '2023-13-01', '23-1-1', '']],
  ['time', ['10:20:30Z', '10:20:30.5+02:00', '25:00:00Z', '10:20']],
  ['date-time', ['2024-02-29T10:20:30Z', '2023-02-29T10:20:30Z', '2024-02-29']],
  ['duration', ['P1D', 'PT5M', 'P2W', 'P1Y2M3DT4H5M6S', 'P', 'PT', 'P1DT', '1D', 'a']],
  ['uuid', ['123e4567-e89b-12d3-a456-426614174000', '123e4567']],
  ['email', ['a@b.example', 'a', 'a@', '@b.example']],
  ['hostname', ['a', 'host.example', '-a', 'a-.example', 'a..b', 'a b', '']],
  ['ipv4', ['192.168.1.1', '256.1.1.1', '1.2.3']],
  ['ipv6', ['::1', '2001:db8::1', 'fe80::1%eth0', ':', '1.2.3.4']],
  ['uri', ['https://host.example/a?b#c', 'urn:a:b', 'mailto:a@b.example', 'a', '/a', 'https://a b', '']],
])('%s: a listed value fits the format as a validator decides', (format, values) => {
  const schema = { type: 'string', format };
  const validate = ajv.compile(schema);
  for (const value of values) expect(fitsSchema(value, schema, schema), value).toBe(validate(value));
});
