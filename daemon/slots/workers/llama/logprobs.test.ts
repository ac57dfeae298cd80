import { expect, test } from 'vitest';
import { chatLogprobs, LogprobQueue, tokenLogprob } from './logprobs.ts';

const HALF = 5;
const spelling = {
  spell: (token: number) => (token === HALF ? '\ufffd' : `<${token}>`),
  bytes: (token: number) => (token === HALF ? [0xc3] : null),
};

test("an entry has the token's logarithm and the most likely tokens", () => {
  const positions = new Map([
    [7, 0.5],
    [8, 0.25],
    [9, 0],
  ]);
  expect(tokenLogprob(8, positions, 1, spelling)).toEqual({
    token: '<8>',
    logprob: Math.log(0.25),
    top: [{ token: '<7>', logprob: Math.log(0.5) }],
  });
  expect(tokenLogprob(9, positions, 0, spelling)).toEqual({ token: '<9>', logprob: -9999, top: [] });
  expect(tokenLogprob(99, positions, 0, spelling).logprob).toBe(-9999);
});

test('a token that is part of a character has its own bytes', () => {
  const positions = new Map([
    [HALF, 0.5],
    [7, 0.25],
  ]);
  const entries = [tokenLogprob(7, positions, 2, spelling), tokenLogprob(HALF, positions, 0, spelling)];
  expect(chatLogprobs(entries)).toMatchObject({
    content: [
      {
        token: '<7>',
        bytes: [60, 55, 62],
        top_logprobs: [{ token: '\ufffd', bytes: [0xc3] }, { bytes: [60, 55, 62] }],
      },
      { token: '\ufffd', bytes: [0xc3], top_logprobs: [] },
    ],
  });
  const unknown = tokenLogprob(HALF, positions, 0, { ...spelling, bytes: () => null });
  expect(chatLogprobs([unknown])).toMatchObject({ content: [{ token: '\ufffd', bytes: null }] });
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
