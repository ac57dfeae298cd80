import { expect, test } from 'vitest';
import { clampRows, clip, fromJson, toJson } from './columns.ts';

test('a value that is not JSON becomes a note instead of an error', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  expect(JSON.parse(toJson(loop))).toEqual({ omitted: 'not JSON' });
  expect(JSON.parse(toJson('x'.repeat(70_000)))).toEqual({ omitted: 'too long' });
  expect(toJson(undefined)).toBe('null');
  expect(fromJson('{broken', [])).toEqual([]);
  expect(fromJson(null, 'unset')).toBe('unset');
  expect(fromJson(toJson({ a: [1] }), null)).toEqual({ a: [1] });
});

test('texts and counts are bounded', () => {
  expect(clip('x'.repeat(5_000))).toHaveLength(1024);
  expect([clip(null), clip(undefined), clip('')]).toEqual([null, null, '']);
  expect([clampRows(0, 10), clampRows(5.9, 10), clampRows(99, 10), clampRows(Number.NaN, 10)]).toEqual([
    1, 5, 10, 10,
  ]);
});
