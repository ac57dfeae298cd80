import { expect, test } from 'vitest';
import { refuseOverflow, refuseTooLong } from './window-overflow.ts';

const refusal = (run: () => void) => {
  try {
    run();
    return null;
  } catch (error) {
    return error as { status: number; code: string; param: string; message: string };
  }
};

test.each([
  [511, { context: 512, contextTrain: 4096 }, null],
  [
    512,
    { context: 512, contextTrain: 4096 },
    /^request \(512 tokens\) exceeds the available context size \(512 tokens\), try increasing it$/,
  ],
  [600, { context: 512, contextTrain: null }, /try increasing it$/],
  [600, { context: 512, contextTrain: 512 }, /\(512 tokens\), which is the maximum of this model/],
  [9000, { context: 8192, contextTrain: 4096 }, /maximum of this model/],
])('a prompt of %i tokens in %j', (tokens, window, message) => {
  const refused = refusal(() => refuseOverflow(tokens, window, 'messages'));
  expect(refused?.message ?? null).toEqual(message === null ? null : expect.stringMatching(message));
  if (message !== null)
    expect(refused).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'messages' });
});

test('an empty prompt is another error', () => {
  expect(refusal(() => refuseOverflow(0, { context: 512, contextTrain: null }, 'prompt'))).toMatchObject({
    status: 422,
    code: 'request.invalid',
    param: 'prompt',
  });
});

test.each([
  [512, 512, null],
  [513, 512, /^input\[3\]: request \(513 tokens\) .*maximum of this model/],
  [513, 2048, /^input\[3\]: request \(513 tokens\) .*try increasing it$/],
])('a text of %i tokens for a model trained for %i', (tokens, contextTrain, message) => {
  const refused = refusal(() => refuseTooLong('input[3]', tokens, { context: 512, contextTrain }));
  expect(refused?.message ?? null).toEqual(message === null ? null : expect.stringMatching(message));
  if (message !== null) expect(refused).toMatchObject({ code: 'context_length_exceeded', param: 'input' });
});
