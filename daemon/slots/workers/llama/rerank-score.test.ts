import { expect, test } from 'vitest';
import { rawScore } from './rerank-score.ts';

const share = (score: number) => 1 / (1 + Math.exp(-score));

test.each([-20, -3.5, 0, 0.25, 9, 20])('inverts the logistic function at %f', (score) => {
  expect(rawScore(share(score), 'bert')).toBeCloseTo(score, 5);
});

test('preserves the order and stays finite at the ends', () => {
  const scores = [0, share(-60), share(-50), share(30), share(35), 1].map(
    (each) => rawScore(each, null) ?? Number.NaN,
  );
  expect(scores.every(Number.isFinite)).toBe(true);
  expect(scores).toEqual([...scores].sort((a, b) => a - b));
});

test('a softmax head has no other score', () => {
  expect(rawScore(0.25, 'qwen3')).toBeNull();
});
