import { expect, test } from 'vitest';
import { IgnoredNames, mergedHeader } from './ignored.ts';

const headerOf = (...names: string[]) => {
  const ignored = new IgnoredNames();
  for (const name of names) ignored.add(name);
  return ignored.header();
};

test('names each thing once', () => {
  expect(headerOf()).toEqual({});
  expect(headerOf('a', 'b', 'a')).toEqual({ 'x-svc-ignored': 'a, b' });
  expect(mergedHeader('a, b', 'b, c')).toBe('a, b, c');
  expect(mergedHeader(undefined, 'c')).toBe('c');
});

test('is a valid header of limited length whatever the caller sends', () => {
  const many = Array.from({ length: 1000 }, (_, at) => `type ${at}`);
  for (const names of [many, ['x'.repeat(1_000_000)], ['a\r\nset-cookie: b'], ['ünïcode 💥']]) {
    const value = headerOf(...names)['x-svc-ignored'] ?? '';
    expect(value).toMatch(/^[\x20-\x7e]{1,200}$/);
  }
});
