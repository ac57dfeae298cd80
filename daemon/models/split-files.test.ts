import { expect, test } from 'vitest';
import { modelStem, splitName, splitParts } from './split-files.ts';

test('parses part numbers', () => {
  expect(splitName('/m/Big-Q4-00002-of-00003.gguf')).toEqual({ stem: 'Big-Q4', part: 2, parts: 3 });
  for (const other of ['Big.gguf', 'Big-2-of-3.gguf', 'Big-00004-of-00003.gguf', 'Big-00000-of-00003.gguf']) {
    expect(splitName(other)).toBeNull();
  }
});

test('an excessive count is not a split model', () => {
  expect(splitName('x-00001-of-99999.gguf')).toBeNull();
});

test('returns all parts, from any of them', () => {
  const parts = ['/m/a-00001-of-00002.gguf', '/m/a-00002-of-00002.gguf'];
  expect(splitParts('/m/a-00002-of-00002.gguf')).toEqual(parts);
  expect(splitParts('/m/a.gguf')).toEqual(['/m/a.gguf']);
});

test('the name without extension and part', () => {
  expect(modelStem('/m/a-00001-of-00002.gguf')).toBe('a');
  expect(modelStem('/m/b.Q4.GGUF')).toBe('b.Q4');
});
