import { expect, test } from 'vitest';
import { completionRequest } from './completion-request.ts';

const sampling = (body: object) => completionRequest({ prompt: 'x', ...body }).generation.sampling;

test('parses biases by id, list and text; false and -Infinity forbid', () => {
  expect(sampling({ logit_bias: { '5': 2.5, '7': -100 } }).bias).toEqual([
    { token: 5, logit: 2.5 },
    { token: 7, logit: -100 },
  ]);
  expect(
    sampling({
      logit_bias: [
        [5, 1],
        ['word', false],
      ],
    }).bias,
  ).toEqual([
    { token: 5, logit: 1 },
    { token: 'word', logit: Number.NEGATIVE_INFINITY },
  ]);
});

test("llama-server's additional samplers are off by default", () => {
  expect(sampling({})).toMatchObject({ xtc: null, dry: null, repeatLast: 64 });
  expect(sampling({ xtc_probability: 0.5 }).xtc).toEqual({ probability: 0.5, threshold: 0.1 });
  expect(sampling({ dry_multiplier: 0.8, dry_penalty_last_n: -1 }).dry).toEqual({
    strength: 0.8,
    base: 1.75,
    allowedLength: 2,
    lastTokens: null,
    sequenceBreakers: undefined,
  });
});

test.each([
  [{ logit_bias: { word: 1 } }, 'logit_bias'],
  [{ logit_bias: { '5': 'much' } }, 'logit_bias'],
  [{ logit_bias: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [i, 1])) }, 'logit_bias'],
  [{ repeat_last_n: -1 }, 'repeat_last_n'],
  [{ xtc_probability: 2 }, 'xtc_probability'],
])('refuses %j and names the field', (body, param) => {
  expect(() => sampling(body)).toThrow(
    expect.objectContaining({ status: 422, param: expect.stringContaining(param) }),
  );
});
