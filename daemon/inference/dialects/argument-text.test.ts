import { expect, it, test } from 'vitest';
import { ArgumentText } from './argument-text.ts';

function joined(fragments: readonly string[]): string {
  const args = new ArgumentText();
  return fragments.map((fragment) => args.push(fragment)).join('') + args.end();
}

it.each([
  ['a placeholder, white space and the arguments', ['{}', ' ', '\n', '{"a":1}'], '{"a":1}'],
  ['null, white space and the arguments', ['nu', 'll', ' ', ' ', '{"a":1}'], '{"a":1}'],
  ['a placeholder and white space', ['{', '}', ' ', ' '], '{}'],
  ['only white space', [' ', ' '], ''],
])('%s', (_, fragments, expected) => {
  expect(joined(fragments)).toBe(expected);
});

test('endless white space after a placeholder is read in linear time', () => {
  const spaces = Array.from({ length: 400_000 }, () => ' \n');
  expect(joined(['{}', ...spaces, '{"a":1}'])).toBe('{"a":1}');
});
