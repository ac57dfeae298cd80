import { expect, test } from 'vitest';
import { parseModel } from './pull-name.ts';

test.each([
  ['maker/m', { repo: 'maker/m', asked: null }],
  ['maker/m:Q4_K_M', { repo: 'maker/m', asked: 'Q4_K_M' }],
  ['maker/m:a/b:c.gguf', { repo: 'maker/m', asked: 'a/b:c.gguf' }],
])('%s', (name, expected) => expect(parseModel(name)).toEqual(expected));

test.each(['m', 'm:Q4_K_M', 'maker/m:', '../m', 'maker/m/n'])('%j is none', (name) => {
  expect(() => parseModel(name)).toThrow(
    expect.objectContaining({ code: 'pull.bad_name' }) as unknown as Error,
  );
});
