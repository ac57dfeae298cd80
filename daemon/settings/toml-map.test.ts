import { expect, test } from 'vitest';
import { mapToml } from './toml-map.ts';

test('keys, values and tables with their lines and offsets', () => {
  const text = 'a.b = 1\r\n[t] # c\r\nx = """\r\n"""\r\ny = { z = [2] }\r\n[[q]]\r\n[e]';
  const map = mapToml(text);
  expect(
    map.entries.map((one) => [
      one.path.join('/'),
      one.line,
      text.slice(one.valueFrom, one.valueTo),
      one.home,
    ]),
  ).toEqual([
    ['a/b', 1, '1', 'root'],
    ['t/x', 3, '"""\r\n"""', 'table'],
    ['t/y', 5, '{ z = [2] }', 'table'],
    ['t/y/z', 5, '[2]', 'inline'],
  ]);
  expect(
    map.tables.map((one) => [
      one.path.join('/'),
      one.line,
      one.kind,
      one.empty,
      text.slice(one.from, one.lastEnd),
    ]),
  ).toEqual([
    ['t', 2, 'header', false, '[t] # c\r\nx = """\r\n"""\r\ny = { z = [2] }'],
    ['t/y', 5, 'inline', false, '{ z = [2]'],
    ['q', 6, 'array', true, '[[q]]'],
    ['e', 7, 'header', true, '[e]'],
  ]);
});

test('an empty inline table ends right after its brace', () => {
  expect(mapToml('a = {}').tables).toMatchObject([{ kind: 'inline', empty: true, from: 4, lastEnd: 5 }]);
});

test('invalid TOML throws', () => {
  expect(() => mapToml('a = \n= 1')).toThrow();
});
