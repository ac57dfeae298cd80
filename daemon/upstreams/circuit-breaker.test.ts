import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Breaker, type Pass } from './circuit-breaker.ts';

function bench() {
  const clock = { now: 1000 };
  return { clock, breaker: new Breaker(() => clock.now) };
}

/** One that is down, while a call tries it; `older` was made before it went down. */
function onTrial() {
  const { clock, breaker } = bench();
  const older = breaker.admit();
  breaker.fail('unreachable', null);
  breaker.fail('unreachable', null);
  clock.now += 5000;
  return { clock, breaker, older, trial: breaker.admit() };
}

describe('Breaker', () => {
  it('opens after five bad answers in a row, and one good answer starts the count anew', () => {
    const { breaker } = bench();
    for (let count = 0; count < 4; count++) breaker.fail('failing', null);
    expect(breaker.open).toBe(false);
    breaker.ok();
    for (let count = 0; count < 4; count++) breaker.fail('failing', null);
    expect(breaker.admit()).toEqual({ trial: false });
    breaker.fail('failing', null);
    expect([breaker.open, breaker.admit(), breaker.waitMs]).toEqual([true, null, 5000]);
  });

  it('opens after two calls that did not reach it', () => {
    const { breaker } = bench();
    breaker.fail('unreachable', null);
    expect([breaker.open, breaker.well]).toEqual([false, false]);
    breaker.fail('unreachable', null);
    expect(breaker.open).toBe(true);
  });

  it('lets one trial through after the pause; its failure doubles the pause, up to a minute', () => {
    const { breaker, clock } = bench();
    breaker.fail('unreachable', null);
    breaker.fail('unreachable', null);
    for (const next of [10_000, 20_000, 40_000, 60_000, 60_000]) {
      clock.now += breaker.waitMs;
      const trial = breaker.admit();
      expect([trial, breaker.admit()]).toEqual([{ trial: true }, null]);
      breaker.fail('failing', trial);
      expect(breaker.waitMs).toBe(next);
    }
    clock.now += 60_000;
    expect(breaker.admit()).toEqual({ trial: true });
    breaker.ok();
    expect([breaker.open, breaker.well]).toEqual([false, true]);
    expect([breaker.admit(), breaker.admit()]).toEqual([{ trial: false }, { trial: false }]);
  });

  it('a trial that is being answered lets the others in, and its failure shuts them out again', () => {
    const { breaker, trial } = onTrial();
    expect(breaker.admit()).toBeNull();
    breaker.begun();
    expect([breaker.open, breaker.well, breaker.admit()]).toEqual([false, false, { trial: false }]);
    breaker.fail('failing', trial);
    expect([breaker.open, breaker.waitMs]).toEqual([true, 10_000]);
  });

  it('answers that begin well and break off still count as failures in a row', () => {
    const { breaker } = bench();
    for (let count = 0; count < 5; count++) {
      breaker.begun();
      breaker.fail('failing', null);
    }
    expect(breaker.open).toBe(true);
  });

  it('a trial whose caller left makes room for the next one', () => {
    const { breaker, trial } = onTrial();
    breaker.nothing(trial);
    expect(breaker.admit()).toEqual({ trial: true });
  });

  it('the end of an older call is no end of the trial', () => {
    const { breaker, older, trial } = onTrial();
    breaker.nothing(older);
    breaker.fail('unreachable', older);
    breaker.fail('unreachable', null);
    expect([breaker.admit(), breaker.waitMs]).toEqual([null, 1]);
    breaker.fail('failing', trial);
    expect(breaker.waitMs).toBe(10_000);
  });

  it('failures of calls that began before it opened do not make the pause longer', () => {
    const { breaker } = bench();
    for (let count = 0; count < 100; count++) breaker.fail('unreachable', null);
    expect(breaker.waitMs).toBe(5000);
  });

  it('a small question that was answered closes it on probation', () => {
    const { breaker } = bench();
    breaker.fail('unreachable', null);
    breaker.fail('unreachable', null);
    breaker.reached();
    expect([breaker.open, breaker.well, breaker.admit()]).toEqual([false, false, { trial: false }]);
    breaker.fail('failing', null);
    expect([breaker.open, breaker.waitMs]).toEqual([true, 10_000]);
  });

  it('a small question that was answered makes it well again, but bad answers stay bad answers in a row', () => {
    const { breaker } = bench();
    for (let count = 0; count < 2; count++) breaker.fail('failing', null);
    expect(breaker.well).toBe(false);
    breaker.reached();
    expect(breaker.well).toBe(true);
    for (let count = 0; count < 3; count++) breaker.fail('failing', null);
    expect([breaker.open, breaker.well]).toEqual([true, false]);
  });

  it('it never gets stuck: once all calls have ended, after the longest pause one may be made', () => {
    const act = fc.constantFrom(
      'ok',
      'nothing',
      'unreachable',
      'failing',
      'reached',
      'begun',
      'wait',
      'admit',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(act, fc.nat(3)), { maxLength: 60 }), (acts) => {
        const { breaker, clock } = bench();
        const passes: Pass[] = [];
        for (const [each, which] of acts) {
          const pass = passes[passes.length - 1 - which] ?? null;
          if (each === 'ok' || each === 'reached' || each === 'begun') breaker[each]();
          else if (each === 'nothing') breaker.nothing(pass);
          else if (each === 'wait') clock.now += 7000;
          else if (each === 'admit') passes.push(...[breaker.admit()].filter((given) => given !== null));
          else breaker.fail(each, pass);
        }
        for (const pass of passes) breaker.nothing(pass);
        clock.now += 60_000;
        expect(breaker.admit()).not.toBeNull();
      }),
    );
  });
});
