import { expect, test } from 'vitest';
import { FRESH, isTouched, readState } from './setup-state.ts';

test.each([
  null,
  '',
  '{',
  '[]',
  'null',
  '{"steps":{}}',
  JSON.stringify({ ...FRESH, steps: { ...FRESH.steps, key: 'half' } }),
  JSON.stringify({ ...FRESH, work: [{ slot: 'agent' }] }),
])('%j is a fresh install', (text) => {
  expect(readState(text)).toEqual(FRESH);
});

test('reads the stored state', () => {
  const work = {
    slot: 'agent',
    model: 'a/b',
    name: 'B',
    context: 4096,
    phase: 'failed' as const,
    pull: 'p1',
    modelId: null,
    error: { code: 'pull.gated', message: 'no' },
  };
  const state = {
    ...FRESH,
    finished: true,
    steps: { ...FRESH.steps, reach: 'skipped' as const },
    work: [work],
  };
  expect(readState(JSON.stringify(state))).toEqual(state);
});

test('reading the state changes nothing', () => {
  expect(isTouched(FRESH)).toBe(false);
  expect(isTouched({ ...FRESH, finished: true })).toBe(false);
  expect(isTouched({ ...FRESH, steps: { ...FRESH.steps, reach: 'skipped' } })).toBe(true);
});
