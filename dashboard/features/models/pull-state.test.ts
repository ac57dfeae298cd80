import { expect, test } from 'vitest';
import { type PullRecord, PullState } from '../../../daemon/contract/pulls.ts';
import { isOpen, progressLine, pullActions, shareOf } from './pull-state.ts';

const GIB = 1024 ** 3;
const pull = (over: Partial<PullRecord>): PullRecord =>
  ({
    state: 'running',
    bytes: GIB,
    total: 4 * GIB,
    speed: 24 * 1024 ** 2,
    eta_s: 128,
    retries: 0,
    ...over,
  }) as PullRecord;

test.each([
  [pull({}), '1.0 GiB of 4.0 GiB · 24.0 MiB/s · 2 min left'],
  [pull({ speed: null, eta_s: null, retries: 2 }), '1.0 GiB of 4.0 GiB · stalled · 2 retries'],
  [pull({ state: 'paused' }), '1.0 GiB of 4.0 GiB'],
  [pull({ state: 'done' }), '4.0 GiB'],
])('%#', (pull, line) => expect(progressLine(pull)).toBe(line));

test('clamps progress to one and handles an unknown size', () => {
  expect([pull({}), pull({ total: 0 }), pull({ bytes: 9 * GIB })].map(shareOf)).toEqual([0.25, 0, 1]);
});

test('allows cancelling until a download has ended', () => {
  for (const state of PullState.options) {
    expect(pullActions({ state }).includes('cancel')).toBe(isOpen({ state }));
  }
});
