import { expect, it } from 'vitest';
import { callArguments } from './json.ts';

it.each([
  ['', '{}'],
  [' \n', '{}'],
  ['{ "a": 1 }', '{ "a": 1 }'],
  ['{"a":', undefined],
  ['[1]', undefined],
  ['null', undefined],
  ['"x"', undefined],
])('arguments %j are %j', (text, expected) => expect(callArguments(text)).toBe(expected));
