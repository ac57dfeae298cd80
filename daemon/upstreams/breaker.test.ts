import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Breaker } from './breaker.ts';

function bench() {
  const clock = { now: 1000 };
  return { clock, breaker: new Breaker(() => clock.now) };
}

describe('Breaker', () => {
  it('opens after five bad answers in a row, and one good answer starts the count anew', () => {
    const { breaker } = bench();
    for (let count = 0; count < 4; count++) breaker.fail('failing');
    expect(breaker.open).toBe(false);
    breaker.ok();
    for (let count = 0; count < 4; count++) breaker.fail('failing');
    expect(breaker.admit()).toBe(true);
    breaker.fail('failing');
    expect([breaker.open, breaker.admit(), breaker.waitMs]).toEqual([true, false, 5000]);
  });

  it('opens after two calls that did not reach it', () => {
    const { breaker } = bench();
    breaker.fail('unreachable');
    expect([breaker.open, breaker.well]).toEqual([false, false]);
    breaker.fail('unreachable');
    expect(breaker.open).toBe(true);
  });

  it('lets one trial through after the pause; its failure doubles the pause, up to a minute', () => {
    const { breaker, clock } = bench();
    breaker.fail('unreachable');
    breaker.fail('unreachable');
    for (const next of [10_000, 20_000, 40_000, 60_000, 60_000]) {
      clock.now += breaker.waitMs;
      expect([breaker.admit(), breaker.admit()]).toEqual([true, false]);
      breaker.fail('failing');
      expect(breaker.waitMs).toBe(next);
    }
    clock.now += 60_000;
    expect(breaker.admit()).toBe(true);
    breaker.ok();
    expect([breaker.open, breaker.well, breaker.admit(), breaker.admit()]).toEqual([false, true, true, true]);
  });

  it('a trial whose caller left makes room for the next one', () => {
    const { breaker, clock } = bench();
    breaker.fail('unreachable');
    breaker.fail('unreachable');
    clock.now += 5000;
    expect(breaker.admit()).toBe(true);
    breaker.nothing();
    expect(breaker.admit()).toBe(true);
  });

  it('failures of calls that began before it opened do not make the pause longer', () => {
    const { breaker } = bench();
    for (let count = 0; count < 100; count++) breaker.fail('unreachable');
    expect(breaker.waitMs).toBe(5000);
  });

  it('a small question that was answered closes it on probation', () => {
    const { breaker } = bench();
    breaker.fail('unreachable');
    breaker.fail('unreachable');
    breaker.reached();
    expect([breaker.open, breaker.well, breaker.admit()]).toEqual([false, false, true]);
    breaker.fail('failing');
    expect([breaker.open, breaker.waitMs]).toEqual([true, 10_000]);
  });

  it('it never gets stuck: whatever happened, after the longest pause a call may be made', () => {
    const act = fc.constantFrom('ok', 'nothing', 'unreachable', 'failing', 'reached', 'wait', 'admit');
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const { breaker, clock } = bench();
        for (const each of acts) {
          if (each === 'ok' || each === 'nothing' || each === 'reached') breaker[each]();
          else if (each === 'wait') clock.now += 7000;
          else if (each === 'admit') breaker.admit();
          else breaker.fail(each);
        }
        breaker.nothing();
        clock.now += 60_000;
        expect(breaker.admit()).toBe(true);
      }),
    );
  });
});
