import { expect, test } from 'vitest';
import { signFault } from './gbnf-tokens.ts';

test.each([
  ['[z-a]', 'the range z-a ends before it starts'],
  ['[a-c0-9z-a]', 'the range z-a'],
  ['[^z-a]', 'the range z-a'],
  ['[\\x7A-\\u0061]', 'the range \\x7A-\\u0061'],
  ['[\u{1F600}-a]', 'the range \u{1F600}-a'],
  ['[\\n-\\t]', 'the range \\n-\\t'],
  ['"\\x00"', 'the character U+0000, which a string'],
  ['"a\\u0000"', 'the character U+0000, which a string'],
  ['[\\x00]', 'the character U+0000, which a character class'],
  ['[\\x00-\\U00000000]', 'the character U+0000, which a character class'],
  ['"\\U7FFFFFFF"', 'there is no character \\U7FFFFFFF'],
  ['"a\\UFFFFFFFF"', 'there is no character \\UFFFFFFFF'],
  ['[a-\\U00110000]', 'there is no character \\U00110000'],
])('%j cannot match any text', (part, reason) => {
  expect(signFault(['"a"', part])).toContain(reason);
});

test.each([
  '[a-z]',
  '[a-a]',
  '[z-]',
  '[-a]',
  '[z\\-a]',
  '[]',
  '[^]',
  '[^"\\\\\\x7F\\x00-\\x1F]',
  '[\\x00-\\x1F]',
  '[\\x00a]',
  '[\\u00e9-\\U0010FFFF]',
  '"z-a"',
  '"\\\\x00 \\\\U7FFFFFFF"',
  '""',
])('%j can match', (part) => {
  expect(signFault([part])).toBeNull();
});
