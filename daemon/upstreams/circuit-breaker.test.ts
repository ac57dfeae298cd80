import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CircuitBreaker, type Pass } from './circuit-breaker.ts';

function bench() {
  const clock = { now: 1000 };
  return { clock, breaker: new CircuitBreaker(() => clock.now) };
}

/** A breaker that is open, with a trial in progress; `older` was admitted before it opened. */
function onTrial() {
  const { clock, breaker } = bench();
  const older = breaker.admit();
  breaker.recordFailure('unreachable', null);
  breaker.recordFailure('unreachable', null);
  clock.now += 5000;
  return { clock, breaker, older, trial: breaker.admit() };
}

describe('Breaker', () => {
  it('opens after five consecutive bad responses, and one good response resets the count', () => {
    const { breaker } = bench();
    for (let count = 0; count < 4; count++) breaker.recordFailure('failing', null);
    expect(breaker.isOpen).toBe(false);
    breaker.recordSuccess();
    for (let count = 0; count < 4; count++) breaker.recordFailure('failing', null);
    expect(breaker.admit()).toEqual({ trial: false });
    breaker.recordFailure('failing', null);
    expect([breaker.isOpen, breaker.admit(), breaker.waitMs]).toEqual([true, null, 5000]);
  });

  it('opens after two calls that did not reach it', () => {
    const { breaker } = bench();
    breaker.recordFailure('unreachable', null);
    expect([breaker.isOpen, breaker.isHealthy]).toEqual([false, false]);
    breaker.recordFailure('unreachable', null);
    expect(breaker.isOpen).toBe(true);
  });

  it('permits one trial after the pause; a failed trial doubles the pause, up to a minute', () => {
    const { breaker, clock } = bench();
    breaker.recordFailure('unreachable', null);
    breaker.recordFailure('unreachable', null);
    for (const next of [10_000, 20_000, 40_000, 60_000, 60_000]) {
      clock.now += breaker.waitMs;
      const trial = breaker.admit();
      expect([trial, breaker.admit()]).toEqual([{ trial: true }, null]);
      breaker.recordFailure('failing', trial);
      expect(breaker.waitMs).toBe(next);
    }
    clock.now += 60_000;
    expect(breaker.admit()).toEqual({ trial: true });
    breaker.recordSuccess();
    expect([breaker.isOpen, breaker.isHealthy]).toEqual([false, true]);
    expect([breaker.admit(), breaker.admit()]).toEqual([{ trial: false }, { trial: false }]);
  });

  it('a trial with a started response closes it for others, and its failure opens it again', () => {
    const { breaker, trial } = onTrial();
    expect(breaker.admit()).toBeNull();
    breaker.recordResponseStart();
    expect([breaker.isOpen, breaker.isHealthy, breaker.admit()]).toEqual([false, false, { trial: false }]);
    breaker.recordFailure('failing', trial);
    expect([breaker.isOpen, breaker.waitMs]).toEqual([true, 10_000]);
  });

  it('interrupted responses with a successful start count as consecutive failures', () => {
    const { breaker } = bench();
    for (let count = 0; count < 5; count++) {
      breaker.recordResponseStart();
      breaker.recordFailure('failing', null);
    }
    expect(breaker.isOpen).toBe(true);
  });

  it('a trial whose caller disconnects permits the next one', () => {
    const { breaker, trial } = onTrial();
    breaker.recordNeutral(trial);
    expect(breaker.admit()).toEqual({ trial: true });
  });

  it('the end of an older call does not end the trial', () => {
    const { breaker, older, trial } = onTrial();
    breaker.recordNeutral(older);
    breaker.recordFailure('unreachable', older);
    breaker.recordFailure('unreachable', null);
    expect([breaker.admit(), breaker.waitMs]).toEqual([null, 1]);
    breaker.recordFailure('failing', trial);
    expect(breaker.waitMs).toBe(10_000);
  });

  it('failures of calls that began before it opened do not make the pause longer', () => {
    const { breaker } = bench();
    for (let count = 0; count < 100; count++) breaker.recordFailure('unreachable', null);
    expect(breaker.waitMs).toBe(5000);
  });

  it('a successful small request closes it on probation', () => {
    const { breaker } = bench();
    breaker.recordFailure('unreachable', null);
    breaker.recordFailure('unreachable', null);
    breaker.recordReachable();
    expect([breaker.isOpen, breaker.isHealthy, breaker.admit()]).toEqual([false, false, { trial: false }]);
    breaker.recordFailure('failing', null);
    expect([breaker.isOpen, breaker.waitMs]).toEqual([true, 10_000]);
  });

  it('a successful small request makes it healthy again, but consecutive bad responses still count', () => {
    const { breaker } = bench();
    for (let count = 0; count < 2; count++) breaker.recordFailure('failing', null);
    expect(breaker.isHealthy).toBe(false);
    breaker.recordReachable();
    expect(breaker.isHealthy).toBe(true);
    for (let count = 0; count < 3; count++) breaker.recordFailure('failing', null);
    expect([breaker.isOpen, breaker.isHealthy]).toEqual([true, false]);
  });

  it('it never gets stuck: once all calls have ended, a call is permitted after the longest pause', () => {
    const act = fc.constantFrom(
      'recordSuccess',
      'nothing',
      'unreachable',
      'failing',
      'recordReachable',
      'recordResponseStart',
      'wait',
      'admit',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(act, fc.nat(3)), { maxLength: 60 }), (acts) => {
        const { breaker, clock } = bench();
        const passes: Pass[] = [];
        for (const [each, which] of acts) {
          const pass = passes[passes.length - 1 - which] ?? null;
          if (each === 'recordSuccess' || each === 'recordReachable' || each === 'recordResponseStart')
            breaker[each]();
          else if (each === 'nothing') breaker.recordNeutral(pass);
          else if (each === 'wait') clock.now += 7000;
          else if (each === 'admit')
            passes.push(...[breaker.admit()].filter((admitted) => admitted !== null));
          else breaker.recordFailure(each, pass);
        }
        for (const pass of passes) breaker.recordNeutral(pass);
        clock.now += 60_000;
        expect(breaker.admit()).not.toBeNull();
      }),
    );
  });
});
