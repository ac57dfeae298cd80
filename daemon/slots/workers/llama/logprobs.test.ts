import { expect, test } from 'vitest';
import { LogprobQueue, tokenLogprob } from './logprobs.ts';

const spell = (token: number) => `<${token}>`;

test("an entry has the token's logarithm and the most likely tokens", () => {
  const positions = new Map([
    [7, 0.5],
    [8, 0.25],
    [9, 0],
  ]);
  expect(tokenLogprob(8, positions, 1, spell)).toEqual({
    token: '<8>',
    logprob: Math.log(0.25),
    top: [{ token: '<7>', logprob: Math.log(0.5) }],
  });
  expect(tokenLogprob(9, positions, 0, spell)).toEqual({ token: '<9>', logprob: -9999, top: [] });
  expect(tokenLogprob(99, positions, 0, spell).logprob).toBe(-9999);
});

test('returns entries with the text they belong to', () => {
  const queue = new LogprobQueue();
  const entry = (token: string) => ({ token, logprob: 0, top: [] });
  queue.add(entry('a'), 'a');
  queue.add(entry('half'), '');
  queue.add(entry('whole'), 'é');
  queue.add(entry('held'), 'x');
  expect(queue.flushText('a').map((one) => one.token)).toEqual(['a']);
  expect(queue.flushText('é').map((one) => one.token)).toEqual(['half', 'whole']);
  expect(queue.flushText('')).toEqual([]);
  expect(queue.flushAll().map((one) => one.token)).toEqual(['held']);
});
