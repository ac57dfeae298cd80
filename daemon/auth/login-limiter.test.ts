import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLoginLimiter } from './login-limiter.ts';

function setup(max = 10, windowS = 60, capacity?: number) {
  const state = { now: 1_000_000.4, max, windowS };
  const limiter = createLoginLimiter({ budget: () => state, clock: () => state.now, capacity });
  const ok = (address = 'a') => limiter.take(address).ok;
  const wait = (address = 'a') => {
    const verdict = limiter.take(address);
    return verdict.ok ? null : verdict.retryAfterS;
  };
  return { state, limiter, ok, wait };
}

describe('login limiter', () => {
  it('L01 ten attempts pass, the eleventh waits until the oldest has left the window', () => {
    const { state, ok } = setup();
    for (let i = 0; i < 10; i++) expect(ok()).toBe(true);
    expect(ok()).toBe(false);
    state.now += 59_999;
    expect(ok()).toBe(false);
    state.now += 1;
    for (let i = 0; i < 10; i++) expect(ok()).toBe(true);
    expect(ok()).toBe(false);
  });

  it('L01 the window slides: each event expires separately', () => {
    const { state, ok, wait } = setup(2, 10);
    expect(ok()).toBe(true);
    state.now += 4_000;
    expect(ok()).toBe(true);
    expect(wait()).toBe(6);
    state.now += 6_000;
    expect(ok()).toBe(true);
    expect(wait()).toBe(4);
  });

  it('L02 attempts while blocked are not recorded', () => {
    const { state, ok } = setup();
    for (let i = 0; i < 10; i++) ok();
    for (let i = 0; i < 59; i++) {
      state.now += 1_000;
      expect(ok()).toBe(false);
    }
    state.now += 1_000;
    expect(ok()).toBe(true);
  });

  it('L04 waiting exactly retry_after_s succeeds, which is a whole number of at least 1', () => {
    const gap = fc.double({ min: 0, max: 3_000, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.double({ min: 0.1, max: 20, noNaN: true }),
        fc.array(gap, { maxLength: 30 }),
        (max, windowS, gaps) => {
          const { state, limiter } = setup(max, windowS);
          for (const step of gaps) {
            state.now += step;
            const verdict = limiter.take('a');
            if (verdict.ok) continue;
            expect(Number.isInteger(verdict.retryAfterS) && verdict.retryAfterS >= 1).toBe(true);
            expect(verdict.retryAfterS).toBeLessThanOrEqual(Math.ceil(windowS) + 1);
            state.now += verdict.retryAfterS * 1000;
            expect(limiter.take('a').ok).toBe(true);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('L01 L14 never permits more than the budget within any window', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2_500 }), { maxLength: 80 }), (gaps) => {
        const { state, ok } = setup(3, 5);
        const passed: number[] = [];
        for (const step of gaps) {
          state.now += step;
          if (ok()) passed.push(state.now);
        }
        for (let i = 3; i < passed.length; i++)
          expect((passed[i] as number) - (passed[i - 3] as number)).toBeGreaterThanOrEqual(5_000);
      }),
      { numRuns: 1_000 },
    );
  });

  it('L10 each address has a separate bucket', () => {
    const { ok } = setup(2);
    for (let i = 0; i < 2 ** 16; i++) if (!ok(`2001:db8::${i.toString(16)}`)) expect(i).toBe('passed');
    expect([ok('2001:db8::ffff'), ok('2001:db8::ffff')]).toEqual([true, false]);
    expect(ok('2001:db8::fffe')).toBe(true);
  });

  it('budget and window take effect immediately', () => {
    const { state, ok, wait } = setup(5, 60);
    for (let i = 0; i < 5; i++) ok();
    expect(wait()).toBe(60);
    state.max = 7;
    expect(ok()).toBe(true);
    state.max = 2;
    state.now += 10_000;
    expect(wait()).toBe(50);
    state.now += 50_000;
    expect(ok()).toBe(true);
    state.windowS = 1;
    state.now += 1_000;
    expect(ok()).toBe(true);
  });

  it('L11 a flood of addresses stays within the bound and does not free a blocked one', () => {
    const { limiter, ok } = setup(3, 60, 5_000);
    for (let i = 0; i < 3; i++) ok('blocked');
    for (let i = 0; i < 200_000; i++) if (!limiter.take(`n${i}`).ok) expect(i).toBe('passed');
    expect(limiter.size).toBe(5_000);
    expect(ok('blocked')).toBe(false);
    expect(ok('n0')).toBe(true);
  });

  it('L11 at capacity the oldest unblocked address is removed first', () => {
    const { ok, limiter } = setup(2, 60, 3);
    ok('a');
    ok('b');
    ok('c');
    ok('a');
    ok('d');
    expect(limiter.size).toBe(3);
    expect([ok('c'), ok('c')]).toEqual([true, false]);
    expect(ok('a')).toBe(false);
  });

  it('L11 when every address is blocked, a new address waits until one is unblocked', () => {
    const { state, ok, wait, limiter } = setup(1, 60, 2);
    ok('a');
    state.now += 5_000;
    ok('b');
    expect(wait('c')).toBe(55);
    expect(limiter.size).toBe(2);
    state.now += 54_999;
    expect(ok('c')).toBe(false);
    state.now += 1;
    expect(ok('c')).toBe(true);
    expect(ok('b')).toBe(false);
    expect(limiter.size).toBe(2);
  });

  it('L12 uses the monotonic clock and ignores the wall clock', () => {
    const limiter = createLoginLimiter({ budget: () => ({ max: 1, windowS: 60 }) });
    const real = Date.now;
    try {
      expect(limiter.take('a').ok).toBe(true);
      Date.now = () => real() + 3_600_000;
      expect(limiter.take('a').ok).toBe(false);
      Date.now = () => real() - 3_600_000;
      const verdict = limiter.take('a');
      expect(!verdict.ok && verdict.retryAfterS <= 60).toBe(true);
    } finally {
      Date.now = real;
    }
  });
});
