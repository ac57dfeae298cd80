import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { Liveness, MAX_PROBE_PAUSE_MS, type ProbeResult, SECOND_PROBE_MS, SILENCE_MS } from './liveness.ts';

let now: number;
let liveness: Liveness;
beforeEach(() => {
  now = 0;
  liveness = new Liveness(() => now);
});

function probe(result: ProbeResult): boolean {
  liveness.beginProbe();
  return liveness.recordProbe(result);
}

describe('an upstream with waiting requests', () => {
  it('is probed after 10 s of silence, and again 5 s after a failed probe', () => {
    now = SILENCE_MS - 1;
    expect(liveness.isProbeDue(0)).toBe(false);
    now = SILENCE_MS;
    expect(liveness.isProbeDue(null)).toBe(false);
    expect(liveness.isProbeDue(0)).toBe(true);
    expect(probe('failed')).toBe(false);
    expect([liveness.isSuspected, liveness.isDown]).toEqual([true, false]);
    now += SECOND_PROBE_MS - 1;
    expect(liveness.isProbeDue(0)).toBe(false);
    now += 1;
    expect(liveness.isProbeDue(0)).toBe(true);
    expect(probe('failed')).toBe(true);
    expect([liveness.isDown, liveness.cause]).toEqual([true, 'It did not respond to two probes.']);
  });

  it('that responds to probes is never down, however long a request waits', () => {
    for (let probes = 0; probes < 100; probes++) {
      now += SILENCE_MS;
      expect(liveness.isProbeDue(0)).toBe(true);
      expect(probe('alive')).toBe(false);
      expect(liveness.isProbeDue(0)).toBe(false);
    }
  });

  it('is probed by one probe at a time', () => {
    now = SILENCE_MS;
    liveness.beginProbe();
    now += SILENCE_MS;
    expect(liveness.isProbeDue(0)).toBe(false);
  });

  it.each(['refused', 'sleeping'] as const)('is down after one probe that shows: %s', (result) => {
    now = SILENCE_MS;
    expect(probe(result)).toBe(true);
    expect(liveness.isDown).toBe(true);
  });

  it('data between both probes, or during one, shows that it responds', () => {
    probe('failed');
    liveness.recordData();
    expect(liveness.isSuspected).toBe(false);
    liveness.beginProbe();
    liveness.recordData();
    expect(liveness.recordProbe('failed')).toBe(false);
    expect(liveness.isSuspected).toBe(false);
  });
});

describe('an upstream that is down', () => {
  beforeEach(() => {
    probe('failed');
    probe('failed');
  });

  it('is probed at growing intervals', () => {
    const pauses: number[] = [];
    for (let count = 0; count < 5; count++) {
      pauses.push(liveness.waitMs);
      now += liveness.waitMs;
      expect(liveness.isProbeDue(null)).toBe(true);
      probe('failed');
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000, MAX_PROBE_PAUSE_MS, MAX_PROBE_PAUSE_MS]);
  });

  it('is probed soon after a refused request or data', () => {
    for (const cause of ['requestProbe', 'recordData'] as const) {
      liveness[cause]();
      expect(liveness.waitMs).toBe(1_000);
      now += 1_000;
      expect(liveness.isProbeDue(null)).toBe(true);
      probe('failed');
    }
  });

  it('is restored by a probe only', () => {
    liveness.recordData();
    expect(liveness.isDown).toBe(true);
    expect(probe('alive')).toBe(true);
    expect([liveness.isDown, liveness.cause]).toEqual([false, null]);
  });
});

it('is down only after two probes in a row failed without data, or one was refused or showed sleep mode', () => {
  const event = fc.oneof(
    fc.record({ is: fc.constantFrom('probe' as const), result: fc.constantFrom('alive', 'failed') }),
    fc.record({ is: fc.constantFrom('data' as const, 'request' as const) }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const tested = new Liveness(() => 0);
      let [failed, isDown] = [0, false];
      for (const each of events) {
        if (each.is === 'data') {
          tested.recordData();
          if (!isDown) failed = 0;
        } else if (each.is === 'request') tested.requestProbe();
        else {
          tested.beginProbe();
          tested.recordProbe((each as { result: ProbeResult }).result);
          failed = (each as { result: ProbeResult }).result === 'failed' ? failed + 1 : 0;
        }
        isDown = failed >= 2;
        expect(tested.isDown).toBe(isDown);
      }
    }),
  );
});
