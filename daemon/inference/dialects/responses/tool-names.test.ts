import { expect, test } from 'vitest';
import { chatName } from './tool-names.ts';

test.each([
  [null, 'shell', 'shell'],
  ['', 'shell', 'shell'],
  ['functions', 'shell', 'shell'],
  ['mcp__fs', 'read', 'mcp__fs__read'],
  ['mcp__fs__', 'read', 'mcp__fs__read'],
  ['crm', 'find', 'crm__find'],
])('in %j %s becomes %s', (namespace, name, expected) => {
  expect(chatName({ namespace, name })).toBe(expected);
});

test('a long name is shortened and stays unique', () => {
  const of = (name: string) => chatName({ namespace: 'mcp__a_server_of_a_rather_long_name', name });
  const [one, two] = [of(`${'x'.repeat(30)}_one`), of(`${'x'.repeat(30)}_two`)];
  expect([one.length, two.length]).toEqual([64, 64]);
  expect(one).not.toBe(two);
  expect(one).toBe(of(`${'x'.repeat(30)}_one`));
  expect(one).toMatch(/^mcp__a_server_of_a_rather_long_name__x+_[0-9a-f]{8}$/);
  expect(of('x'.repeat(27))).toHaveLength(64);
  expect(of('x'.repeat(27))).toMatch(/x{27}$/);
});

test("a name without a namespace is the caller's own, however long", () => {
  expect(chatName({ namespace: null, name: 'x'.repeat(80) })).toHaveLength(80);
});
