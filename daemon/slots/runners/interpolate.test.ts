import { expect, it } from 'vitest';
import { interpolate, interpolateAll } from './interpolate.ts';

const values = { port: '1234', model: '/m/{port}.gguf' };

it.each([
  ['--port={port}', '--port=1234'],
  ['{port}{port}', '12341234'],
  ['{model}', '/m/{port}.gguf'],
  ['{"a":{"b":1}}', '{"a":{"b":1}}'],
  ['{other} {toString} { port } {}', '{other} {toString} { port } {}'],
  ['$& {port} $1', '$& 1234 $1'],
])('%j becomes %j', (text, filled) => expect(interpolate(text, values)).toBe(filled));

it('interpolates every value of a table', () => {
  expect(interpolateAll({ A: '{port}', '{port}': 'x' }, values)).toEqual({ A: '1234', '{port}': 'x' });
});
