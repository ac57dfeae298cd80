import { expect, test } from 'vitest';
import { mapLines, parseMapLines } from './model-map-text.ts';

test('lines of a table of lists round-trip', () => {
  const map = { 'qwen3:8b': ['a', 'org/b'], 'x=y': ['c'] };
  const lines = mapLines(map);
  expect(lines).toEqual(['qwen3:8b = a, org/b', 'x=y = c']);
  expect(parseMapLines(`\n${lines.join('\r\n')}\n`)).toEqual(map);
  expect(parseMapLines(' ')).toEqual({});
});

test.each(['a', '= b', 'a =', 'a = ,', 'a = b\na = c'])('refuses %j', (text) => {
  expect(parseMapLines(text)).toBeNull();
});
