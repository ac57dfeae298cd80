import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BURST_MS, CircuitBreaker, type FailureKind, MAX_PAUSE_MS, type Pass } from './circuit-breaker.ts';

function bench() {
  const clock = { now: 1000 };
  return {
    clock,
    breaker: new CircuitBreaker(
      () => clock.now,
      () => 0.5,
    ),
  };
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
    for (let count = 0; count < 4; count++) breaker.recordFailure('badStatus', null);
    expect(breaker.isOpen).toBe(false);
    breaker.recordSuccess();
    for (let count = 0; count < 4; count++) breaker.recordFailure('badStatus', null);
    expect(breaker.admit()).toEqual({ trial: false });
    breaker.recordFailure('badStatus', null);
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
      breaker.recordFailure('badStatus', trial);
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
    breaker.recordFailure('badStatus', trial);
    expect([breaker.isOpen, breaker.waitMs]).toEqual([true, 10_000]);
  });

  it('interrupted responses with a successful start count as consecutive failures', () => {
    const { breaker } = bench();
    for (let count = 0; count < 5; count++) {
      breaker.recordResponseStart();
      breaker.recordFailure('badStatus', null);
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
    expect([breaker.admit(), breaker.waitMs]).toEqual([null, 5000]);
    breaker.recordFailure('badStatus', trial);
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
    breaker.recordFailure('badStatus', null);
    expect([breaker.isOpen, breaker.waitMs]).toEqual([true, 10_000]);
  });

  it('a successful small request makes it healthy again, but consecutive bad responses still count', () => {
    const { breaker } = bench();
    for (let count = 0; count < 2; count++) breaker.recordFailure('badStatus', null);
    expect(breaker.isHealthy).toBe(false);
    breaker.recordReachable();
    expect(breaker.isHealthy).toBe(true);
    for (let count = 0; count < 3; count++) breaker.recordFailure('badStatus', null);
    expect([breaker.isOpen, breaker.isHealthy]).toEqual([true, false]);
  });

  it('a trial that hangs delays the next one by a pause at most', () => {
    const { breaker, clock } = onTrial();
    expect(breaker.admit()).toBeNull();
    clock.now += 5000;
    expect(breaker.admit()).toEqual({ trial: true });
  });

  it.each<[FailureKind, boolean]>([
    ['broken', false],
    ['lost', false],
    ['badStatus', true],
    ['unreachable', true],
    ['error', false],
  ])('16 failures of kind %s at once open it: %s', (kind, opens) => {
    const { breaker } = bench();
    for (let count = 0; count < 16; count++) breaker.recordFailure(kind, null);
    expect([breaker.isOpen, breaker.isHealthy]).toEqual([opens, false]);
  });

  it('streams that break one after another open it', () => {
    const { breaker, clock } = bench();
    for (let count = 0; count < 5; count++) {
      expect(breaker.isOpen).toBe(false);
      breaker.recordFailure('broken', null, { cause: 'It closed the connection.' });
      clock.now += BURST_MS;
    }
    expect([breaker.isOpen, breaker.failures, breaker.cause]).toEqual([true, 5, 'It closed the connection.']);
  });

  it('does not open while other calls receive data, and opens with the first failure afterwards', () => {
    const { breaker } = bench();
    for (let count = 0; count < 9; count++) breaker.recordFailure('badStatus', null, { isReceiving: true });
    expect(breaker.isOpen).toBe(false);
    breaker.recordFailure('badStatus', null);
    expect(breaker.isOpen).toBe(true);
  });

  it('permits about one attempt per second without an alternative', () => {
    const { breaker, clock } = bench();
    for (let count = 0; count < 2; count++) breaker.recordFailure('unreachable', null);
    let attempts = 0;
    for (let ms = 0; ms < 12_500; ms += 50) {
      clock.now += 50;
      const pass = breaker.admit(false);
      if (pass === null) continue;
      attempts++;
      breaker.recordFailure('unreachable', pass);
    }
    expect(attempts).toBe(10);
    expect([breaker.admit(true), breaker.admit(false)]).toEqual([null, null]);
  });

  it('no schedule of hangs, refusals and breaks opens it while data flows, or blocks it beyond the longest pause', () => {
    const act = fc.constantFrom(
      'recordSuccess',
      'recordReachable',
      'recordResponseStart',
      'nothing',
      'hang',
      'wait',
      'admit',
      'unreachable',
      'lost',
      'broken',
      'badStatus',
      'error',
    );
    const step = fc.record({ act, which: fc.nat(3), other: fc.boolean(), flows: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { breaker, clock } = bench();
        const passes: Pass[] = [];
        for (const { act: each, which, other, flows } of steps) {
          const pass = passes[passes.length - 1 - which] ?? null;
          if (each === 'recordSuccess' || each === 'recordReachable' || each === 'recordResponseStart')
            breaker[each]();
          else if (each === 'nothing') breaker.recordNeutral(pass);
          else if (each === 'wait') clock.now += 700;
          else if (each === 'hang') clock.now += 60_000;
          else if (each === 'admit')
            passes.push(...[breaker.admit(other)].filter((admitted) => admitted !== null));
          else {
            const wasOpen = breaker.isOpen;
            breaker.recordFailure(each, pass, { isReceiving: flows });
            expect(breaker.isHealthy).toBe(false);
            if (flows && !wasOpen) expect(breaker.isOpen).toBe(false);
          }
          expect(breaker.waitMsFor(true)).toBeLessThanOrEqual(MAX_PAUSE_MS);
          expect(breaker.waitMsFor(false)).toBeLessThanOrEqual(1500);
          expect(breaker.isOpen || breaker.waitMs === 0).toBe(true);
        }
        // No call ever ends: all of them hang.
        clock.now += MAX_PAUSE_MS;
        expect(breaker.admit()).not.toBeNull();
        breaker.recordSuccess();
        expect([breaker.isOpen, breaker.isHealthy, breaker.admit()]).toEqual([false, true, { trial: false }]);
      }),
    );
  });
});
