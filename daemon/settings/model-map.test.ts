import { expect, test } from 'vitest';
import { modelMap } from './model-map.ts';

const good = { 'qwen3-32b': ['qwen3-8b', 'org/x'], 'org/x': ['qwen3-32b'] };

test('reads lists of models by model', () => {
  expect(modelMap.fromToml(good)).toEqual({ ok: true, value: good });
  expect(modelMap.fromInput?.(good)).toEqual({ ok: true, value: good });
});

test.each([
  ['names the model itself', ['m']],
  ['names a model twice', ['a', 'a']],
  ['is no list', 'a'],
  ['has something else than names', ['a', 1]],
  ['has a blank name', ['']],
  ['has a control character', ['a\n']],
  ['is too long', Array.from({ length: 9 }, (_, index) => `m${index}`)],
  ['comes from a name with a dot that is not in quotes', { '5-7b': ['a'] }],
])('an entry that %s is refused on input, and ignored in the file', (_, models) => {
  expect(modelMap.fromInput?.({ ...good, m: models })).toMatchObject({ ok: false });
  const read = modelMap.fromToml({ ...good, m: models });
  expect(read).toMatchObject({
    ok: true,
    value: good,
    warning: expect.stringContaining('has an entry "m" that'),
  });
});

test('a warning has the first wrong entry and the number of the others', () => {
  const read = modelMap.fromToml({ ' m': ['a'], m: 'a', n: 'a', ...good });
  expect(read).toEqual({
    ...{ ok: true, value: good },
    warning: 'has an entry " m" that is not the name of a model; it and 2 more are ignored',
  });
});

test.each([['a'], [1], [null], [[['a']]]])('%j is no table', (value) => {
  expect(modelMap.fromToml(value).ok).toBe(false);
});

test('the number of entries is bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`m${index}`, ['a']]));
  const read = modelMap.fromToml(many);
  expect(read.ok && Object.keys(read.value)).toHaveLength(256);
  expect(modelMap.fromInput?.(many)).toMatchObject({ ok: false });
});
