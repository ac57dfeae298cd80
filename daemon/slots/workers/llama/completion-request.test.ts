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
])('the prompt %j is the prompts %j', (prompt, prompts) => {
  expect(completionRequest({ prompt }).prompts).toEqual(prompts);
});

test.each([undefined, 5, [], [[]], ['a', 1], [1.5], [-1], new Array(300).fill('a')])(
  'the prompt %j is refused',
  (prompt) => {
    expect(() => completionRequest({ prompt })).toThrow(
      expect.objectContaining({ status: 400, param: expect.stringContaining('prompt') }),
    );
  },
);

test.each([
  [{ best_of: 3 }, 'best_of'],
  [{ echo: true, logprobs: 1 }, 'echo'],
  [{ logprobs: 6 }, 'logprobs'],
  [{ logprobs: true }, 'logprobs'],
])('%j is refused by name', (body, param) => {
  expect(() => completionRequest({ prompt: 'a', ...body })).toThrow(
    expect.objectContaining({ status: 400, param }),
  );
});

test('what is not given', () => {
  expect(
    completionRequest({ prompt: 'a', suffix: '', best_of: 1, logprobs: null, echo: null }),
  ).toMatchObject({
    echo: false,
    suffix: null,
    n: 1,
    generation: { maxTokens: null, logprobs: null },
  });
});
