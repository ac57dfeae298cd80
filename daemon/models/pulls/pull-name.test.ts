import { expect, test } from 'vitest';
import { parseModel } from './pull-name.ts';

test.each([
  ['maker/m', { repo: 'maker/m', selector: null }],
  ['maker/m:Q4_K_M', { repo: 'maker/m', selector: 'Q4_K_M' }],
  ['maker/m:a/b:c.gguf', { repo: 'maker/m', selector: 'a/b:c.gguf' }],
])('%s', (name, expected) => expect(parseModel(name)).toEqual(expected));

test.each(['m', 'm:Q4_K_M', 'maker/m:', '../m', 'maker/m/n'])('refuses %j', (name) => {
  expect(() => parseModel(name)).toThrow(
    expect.objectContaining({ code: 'pull.bad_name' }) as unknown as Error,
  );
});
