import { expect, test } from 'vitest';
import { addCounts, NO_COUNTS, timings } from './usage.ts';

const counts = { promptTokens: 10, cachedTokens: 4, completionTokens: 3, promptMs: 12, predictedMs: 30 };

test('returns no infinite rate when nothing was measured', () => {
  expect(timings(NO_COUNTS)).toMatchObject({
    prompt_per_second: 0,
    predicted_per_second: 0,
    prompt_per_token_ms: 0,
  });
});

test('counts a prompt that several choices share once and adds other prompts', () => {
  expect(addCounts(counts, { ...counts, cachedTokens: 9 }, true)).toEqual({
    promptTokens: 10,
    cachedTokens: 4,
    completionTokens: 6,
    promptMs: 24,
    predictedMs: 60,
  });
  expect(addCounts(counts, counts, false)).toMatchObject({ promptTokens: 20, cachedTokens: 8 });
});
