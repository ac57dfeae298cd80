import { describe, expect, it } from 'vitest';
import { type Failure, nextFailure, postponeFailure, RESET_AFTER_MS, trialDecision } from './failure.ts';

const NOW = 1_000_000;

function failTimes(times: number): Failure {
  let failure: Failure | null = null;
  for (let i = 0; i < times; i++) failure = nextFailure(failure, 'broke', NOW, null);
  return failure as Failure;
}

describe('back-off', () => {
  it.each([
    [1, 5_000],
    [2, 15_000],
    [3, 45_000],
    [4, 135_000],
  ])('failure %i is retried after %i ms', (times, wait) => {
    expect(failTimes(times)).toEqual({
      reason: 'broke',
      failures: times,
      parked: false,
      retryAt: NOW + wait,
      failedAt: NOW,
      lackedMemory: false,
    });
  });

  it.each([5, 6, 10])('P01: failure %i parks the slot', (times) => {
    expect(failTimes(times)).toMatchObject({ failures: times, parked: true, retryAt: null });
  });

  it('ten minutes of serving reset the count, a second less does not', () => {
    const four = failTimes(4);
    const later = NOW + 10_000_000;
    expect(nextFailure(four, 'again', later, later - RESET_AFTER_MS).failures).toBe(1);
    expect(nextFailure(four, 'again', later, later - RESET_AFTER_MS + 1_000).failures).toBe(5);
  });

  it('an attempt that could not be made delays the next one without counting', () => {
    expect(postponeFailure(failTimes(2), NOW + 50, false)).toMatchObject({
      failures: 2,
      retryAt: NOW + 15_050,
    });
    expect(postponeFailure(failTimes(5), NOW + 50, false)).toMatchObject({ parked: true, retryAt: null });
  });
});

describe('a request while the slot is in error', () => {
  it('gets the time of the next attempt', () => {
    expect(trialDecision(failTimes(1), NOW + 1_200)).toEqual({ trial: false, retryAfterS: 4 });
    expect(trialDecision(failTimes(1), NOW + 9_000)).toEqual({ trial: false, retryAfterS: 1 });
  });

  it('is the trial of a parked slot once per 300 s', () => {
    const parked = failTimes(5);
    expect(trialDecision(parked, NOW + 299_999)).toEqual({ trial: false, retryAfterS: null });
    expect(trialDecision(parked, NOW + 300_000)).toEqual({ trial: true });
  });

  it.each([1, 5])(
    'is the trial at any time after a load that lacked memory, until the next failure (%i)',
    (times) => {
      const withoutMemory = postponeFailure(failTimes(times), NOW, true);
      expect(trialDecision(withoutMemory, NOW + 1)).toEqual({ trial: true });
      expect(trialDecision(nextFailure(withoutMemory, 'broke', NOW, null), NOW + 1).trial).toBe(false);
      expect(trialDecision(postponeFailure(withoutMemory, NOW, false), NOW + 1).trial).toBe(false);
    },
  );
});
