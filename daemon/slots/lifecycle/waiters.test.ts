import { beforeEach, describe, expect, it } from 'vitest';
import type { GatewayError } from '../../contract/errors.ts';
import { ManualClock, settle } from '../testing/manual-clock.ts';
import { refusalOf } from '../testing/refusal-of.ts';
import type { QueueLimit } from './queue-limit.ts';
import { Waiters } from './waiters.ts';

let clock: ManualClock;
let loading: boolean;
let left: number;
let waiters: Waiters<string>;
let limit: QueueLimit;
beforeEach(() => {
  clock = new ManualClock();
  loading = true;
  left = 0;
  limit = { requests: 2, bytes: 1_000, remedy: 'Wait.' };
  const count = () => {
    left += 1;
  };
  const deps = {
    slot: 'agent',
    clock,
    limit: () => limit,
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

  const waitWith = (bytes: number) =>
    waiters.wait({
      signal: new AbortController().signal,
      priority: 'interactive',
      limitMs: 1_000,
      onDecided: undefined,
      bytes,
    });

  it('a queue is also full by the bytes of its bodies, but always takes one', async () => {
    limit = { ...limit, requests: 10 };
    const first = waitWith(5_000);
    expect(() => waitWith(1)).toThrow('queue');
    waiters.serve(() => 'a');
    await first;
    const disconnected = new AbortController();
    const left = waiters.wait({
      signal: disconnected.signal,
      priority: 'batch',
      limitMs: 1_000,
      onDecided: undefined,
      bytes: 600,
    });
    const others = [waitWith(400)];
    expect(() => waitWith(1)).toThrow('queue');
    disconnected.abort(new Error('disconnected'));
    await expect(left).rejects.toThrow('disconnected');
    others.push(waitWith(600));
    expect(() => waitWith(1)).toThrow('queue');
    waiters.refuse(new Error('stopped'));
    for (const other of others) await expect(other).rejects.toThrow('stopped');
    expect(waitWith(1_000)).toBeInstanceOf(Promise);
  });

  it('the refusal names slot, length, expected wait and what to do', async () => {
    const refusal = () => {
      try {
        void waitWith(0).catch(() => {});
      } catch (error) {
        return error as GatewayError;
      }
      throw new Error('it waits');
    };
    for (let count = 0; count < 2; count++) void waitWith(0).catch(() => {});
    expect(refusal().message).toBe('The queue of slot agent is full: 2 requests wait. Wait.');
    loading = false;
    limit = { ...limit, requests: 10 };
    for (let count = 0; count < 8; count++) void waitWith(0).catch(() => {});
    for (let turn = 0; turn < 4; turn++) {
      waiters.serve(() => 'a');
      void waitWith(0).catch(() => {});
      await clock.advance(500);
    }
    const { message, options, code, status } = refusal();
    expect([code, status, message]).toEqual([
      'slot.queue_full',
      429,
      'The queue of slot agent is full: 10 requests wait; they take about 5 s. Wait.',
    ]);
    expect(options.details).toEqual({ slot: 'agent', position: 11, queued: 10, expected_wait_s: 5 });
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
