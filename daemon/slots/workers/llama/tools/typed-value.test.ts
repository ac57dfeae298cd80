import { expect, test } from 'vitest';
import { isText, typedValue } from './typed-value.ts';

const root = { $defs: { Color: { enum: ['red', 5] }, Loop: { $ref: '#/$defs/Loop' } } };

test.each<[string, unknown, unknown]>([
  ['5', { type: 'string' }, '5'],
  ['5', { type: 'integer' }, 5],
  [' 5.0 ', { type: 'integer' }, 5],
  ['five', { type: 'integer' }, 'five'],
  ['1e3', { type: 'number' }, 1000],
  ['false', { type: 'boolean' }, false],
  ['False', { type: 'boolean' }, false],
  ['None', { type: ['integer', 'null'] }, null],
  ['None', { type: 'string' }, 'None'],
  ['None', {}, 'None'],
  ['007', {}, '007'],
  ['7', {}, 7],
  ['"quoted"', {}, '"quoted"'],
  ['[1, 2]', { items: { type: 'integer' } }, [1, 2]],
  ['{"a": 1}', { anyOf: [{ type: 'object' }, { type: 'null' }] }, { a: 1 }],
  ['{"a": 1}', { type: 'string' }, '{"a": 1}'],
  ['12', { type: ['string', 'integer'] }, 12],
  ['1.5', { type: ['string', 'integer'] }, '1.5'],
  ['5', { $ref: '#/$defs/Color' }, 5],
  ['red', { $ref: '#/$defs/Color' }, 'red'],
  ['x', { $ref: '#/$defs/Loop' }, 'x'],
  ['true', { const: true }, true],
  ['9007199254740993', { type: 'integer' }, 9007199254740993n],
])('%j with %j', (text, schema, value) => {
  const json = typedValue(text, schema, root);
  if (typeof value === 'bigint') expect(json).toBe(String(value));
  else expect(JSON.parse(json)).toEqual(value);
});

test('only a string can be emitted before it is complete', () => {
  expect(isText({ type: 'string' })).toBe(true);
  expect(isText({ enum: ['a', 'b'] })).toBe(true);
  expect(isText({ type: ['string', 'null'] })).toBe(false);
  expect(isText({})).toBe(false);
  expect(isText(undefined)).toBe(false);
});
