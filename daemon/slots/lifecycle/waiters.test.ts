import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, settle } from '../testing/manual-clock.ts';
import { refusalOf } from '../testing/refusal-of.ts';
import { Waiters } from './waiters.ts';

let clock: ManualClock;
let loading: boolean;
let left: number;
let waiters: Waiters<string>;
beforeEach(() => {
  clock = new ManualClock();
  loading = true;
  left = 0;
  const count = () => {
    left += 1;
  };
  const deps = {
    slot: 'agent',
    clock,
    maxSize: () => 2,
    isLoading: () => loading,
    progress: () => 0.5,
    onLeave: count,
  };
  waiters = new Waiters(deps);
});
const wait = (signal = new AbortController().signal, onDecided?: () => void) =>
  waiters.wait({ signal, priority: 'interactive', limitMs: 1_000, onDecided });

describe('Waiters', () => {
  it('serves in order and notifies each caller once that its load is decided', async () => {
    const notified: number[] = [];
    const turns = [wait(undefined, () => notified.push(1)), wait(undefined, () => notified.push(2))];
    waiters.serve(() => 'a');
    waiters.notifyAdmitted();
    waiters.notifyAdmitted();
    waiters.serve(() => 'b');
    expect(await Promise.all(turns)).toEqual(['a', 'b']);
    expect(notified).toEqual([1, 2]);
  });

  it('removes a caller that disconnects and reports it; a later abort changes nothing', async () => {
    const disconnect = new AbortController();
    const turn = wait(disconnect.signal);
    disconnect.abort(new Error('disconnected'));
    await expect(turn).rejects.toThrow('disconnected');
    expect([waiters.size, left]).toEqual([0, 1]);
    const served = new AbortController();
    const second = wait(served.signal);
    waiters.serve(() => 'a');
    served.abort(new Error('late'));
    expect([await second, left]).toEqual(['a', 1]);
  });

  it('the limit counts for a load, not for a turn behind others', async () => {
    const turn = refusalOf(wait());
    loading = false;
    await clock.advance(1_000);
    expect(waiters.size).toBe(1);
    loading = true;
    await clock.advance(1_000);
    expect((await turn).code).toBe('slot.loading');
    expect(left).toBe(1);
  });

  it('a full queue refuses the new caller only', () => {
    wait();
    wait();
    expect(() => wait()).toThrow('queue');
    expect(waiters.size).toBe(2);
  });

  it('load requests are settled together with the callers', async () => {
    const held = waiters.requestLoad('request');
    expect(waiters.isLoadRequested).toBe(true);
    waiters.resolveLoads();
    await held;
    const reason = new Error('no');
    const both = [
      expect(waiters.requestLoad('request')).rejects.toBe(reason),
      expect(wait()).rejects.toBe(reason),
    ];
    waiters.refuse(reason);
    await Promise.all(both);
    expect([waiters.isLoadRequested, waiters.size]).toEqual([false, 0]);
    await clock.advance(10_000);
    await settle();
    expect(left).toBe(0);
  });
});
