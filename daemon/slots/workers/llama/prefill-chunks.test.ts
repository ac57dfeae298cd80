import { expect, test } from 'vitest';
import { prefillPace } from './prefill-chunks.ts';

function paceAfter(msPerToken: number, parts: number, batch = 512) {
  const pace = prefillPace(batch);
  for (let i = 0; i < parts; i++) pace.record(pace.size(), pace.size() * msPerToken);
  return pace.size();
}

test('starts small and grows to the batch size on a fast engine', () => {
  expect(paceAfter(0.01, 0)).toBe(64);
  expect(paceAfter(0.01, 1)).toBe(512);
});

test('takes about 150 ms per part on a slow engine, never fewer than 64 tokens', () => {
  expect(paceAfter(1, 5)).toBe(150);
  expect(paceAfter(50, 5)).toBe(64);
});

test('respects a smaller batch size', () => {
  expect(paceAfter(1, 3, 8)).toBe(8);
});
