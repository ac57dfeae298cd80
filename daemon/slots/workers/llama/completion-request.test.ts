import { expect, test } from 'vitest';
import { completionRequest } from './completion-request.ts';

test.each([
  ['a', ['a']],
  [['a'], ['a']],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [[1, 2], [[1, 2]]],
  [
    [[1], [2, 3]],
    [[1], [2, 3]],
  ],
])('parses the prompt %j as %j', (prompt, prompts) => {
  expect(completionRequest({ prompt }).prompts).toEqual(prompts);
});

test.each([undefined, 5, [], [[]], ['a', 1], [1.5], [-1], new Array(300).fill('a')])(
  'refuses the prompt %j',
  (prompt) => {
    expect(() => completionRequest({ prompt })).toThrow(
      expect.objectContaining({ status: 422, param: expect.stringContaining('prompt') }),
    );
  },
);

test.each([
  [{ best_of: 3 }, 'best_of'],
  [{ echo: true, logprobs: 1 }, 'echo'],
  [{ logprobs: 6 }, 'logprobs'],
  [{ logprobs: true }, 'logprobs'],
])('refuses %j and names the field', (body, param) => {
  expect(() => completionRequest({ prompt: 'a', ...body })).toThrow(
    expect.objectContaining({ status: 422, param }),
  );
});

test('default values', () => {
  expect(
    completionRequest({ prompt: 'a', suffix: '', best_of: 1, logprobs: null, echo: null }),
  ).toMatchObject({
    echo: false,
    suffix: null,
    n: 1,
    generation: { maxTokens: null, logprobs: null },
  });
});
