import { describe, expect, it } from 'vitest';
import { AdmissionBench } from '../testing/admission-bench.ts';
import { ManualClock, settle } from '../testing/manual-clock.ts';
import { refusalOf } from '../testing/refusal-of.ts';
import { AdmissionQueue } from './queue.ts';

const pair = (text = '') => [
  { name: 'a', size: 2, text },
  { name: 'b', size: 2, text },
];

/** Fails a load of this slot; later loads are immediate. */
async function breaks(bench: AdmissionBench, name: string): Promise<void> {
  bench.runner.loadsAtOnce = false;
  const failing = bench.request(name);
  bench.alive(name)[0]?.end('broken');
  await refusalOf(failing);
  bench.runner.loadsAtOnce = true;
}

describe('the admission queue', () => {
  it('proceeds as soon as the earlier slot has ended, without waiting for the timer', async () => {
    const bench = new AdmissionBench(pair(), 2);
    (await bench.request('a')).release();
    await bench.clock.advance(1_000);
    const at = bench.clock.now();
    const lease = await bench.request('b');
    expect([bench.clock.now() - at, bench.evicted]).toEqual([0, ['a']]);
    lease.release();
  });

  it('is first in, first out: a later load does not overtake', async () => {
    const four = ['a', 'b', 'c', 'd'].map((name) => ({ name, size: name === 'd' ? 1 : 3 }));
    const bench = new AdmissionBench(four, 3);
    const lease = await bench.request('a');
    const order: string[] = [];
    for (const name of ['b', 'c', 'd']) {
      void bench.request(name).then((granted) => {
        order.push(name);
        granted.release();
      });
      await settle();
    }
    expect(bench.admission.waiting).toEqual(['b', 'c', 'd']);
    lease.release();
    await bench.clock.advance(5_000);
    expect(order).toEqual(['b', 'c', 'd']);
  });

  it('a load whose engine already runs is removed, so that its memory counts once', async () => {
    const bench = new AdmissionBench(pair(), 2);
    const lease = await bench.request('a');
    const request = bench.request('b');
    expect(bench.admission.waiting).toEqual(['b']);
    bench.running.add('b');
    await bench.controller('b').load('auto');
    expect(bench.admission.waiting).toEqual([]);
    (await request).release();
    lease.release();
  });

  it('a later small load does not take the memory that an earlier one waits for', async () => {
    const bench = new AdmissionBench(
      [
        { name: 'a', size: 2 },
        { name: 'b', size: 3 },
        { name: 'c', size: 1 },
      ],
      3,
    );
    const lease = await bench.request('a');
    const [first, second] = [bench.request('b'), bench.request('c')];
    await settle();
    expect(bench.admission.waiting).toEqual(['b', 'c']);
    lease.release();
    await bench.clock.advance(1_000);
    (await first).release();
    await bench.clock.advance(1_000);
    (await second).release();
  });

  it('a later load may overtake when both fit', async () => {
    const bench = new AdmissionBench([...pair(), { name: 'small', size: 1 }], 3);
    const lease = await bench.request('a');
    const waiting = bench.request('b');
    await settle();
    expect(bench.admission.waiting).toEqual(['b']);
    (await bench.request('small')).release();
    expect(bench.controller('small').record().state).toBe('ready');
    lease.release();
    await bench.clock.advance(30_000);
    (await waiting).release();
  });

  it('a caller that disconnects removes its load, and nothing is evicted for it', async () => {
    const bench = new AdmissionBench(pair(), 2);
    const lease = await bench.request('a');
    const disconnect = new AbortController();
    bench.request('b', { signal: disconnect.signal });
    expect(bench.controller('b').record()).toMatchObject({ state: 'offline', queued: 1, waiting_for: ['a'] });
    disconnect.abort();
    lease.release();
    await bench.clock.advance(60_000);
    expect([bench.admission.waiting, bench.evicted]).toEqual([[], []]);
  });

  it('waits no longer than the load limit: 503 slot.loading', async () => {
    const bench = new AdmissionBench(pair(), 2);
    const lease = await bench.request('a');
    const request = bench.request('b');
    await bench.clock.advance(300_000);
    expect((await refusalOf(request)).code).toBe('slot.loading');
    expect(bench.admission.waiting).toEqual([]);
    lease.release();
  });

  it('unloading a waiting slot ends a load that an admin requested, and keeps a waiting caller', async () => {
    const bench = new AdmissionBench(pair(), 2);
    const lease = await bench.request('a');
    const load = refusalOf(bench.controller('b').load());
    await bench.controller('b').unload();
    expect((await load).code).toBe('slot.draining');
    expect(bench.admission.waiting).toEqual([]);
    const request = bench.request('b');
    await bench.controller('b').unload();
    lease.release();
    await bench.clock.advance(30_000);
    (await request).release();
    expect(bench.controller('b').record().state).toBe('ready');
  });

  it('the trial of a failed slot waits in the error state, and a failed trial counts as another failure', async () => {
    const bench = new AdmissionBench(pair(), 2);
    await breaks(bench, 'b');
    const lease = await bench.request('a');
    const trial = bench.controller('b').load();
    expect(bench.controller('b').record()).toMatchObject({ state: 'error', waiting_for: ['a'] });
    bench.runner.loadsAtOnce = false;
    lease.release();
    await bench.clock.advance(1_000);
    bench.alive('b')[0]?.end('broken again');
    await refusalOf(trial);
    expect(bench.controller('b').record()).toMatchObject({ state: 'error', failure: { failures: 2 } });
  });

  it('the retry of a failed slot takes free memory only, and does not count as a failure when there is none', async () => {
    const bench = new AdmissionBench(pair(), 2);
    await breaks(bench, 'b');
    (await bench.request('a')).release();
    await bench.clock.advance(200_000);
    expect(bench.controller('b').record()).toMatchObject({
      state: 'error',
      failure: { failures: 1 },
      waiting_for: [],
    });
    expect(bench.evicted).toEqual([]);
  });

  it('a request for a failed slot whose retry found no memory evicts an idle slot, as for any other', async () => {
    const bench = new AdmissionBench(pair(), 2);
    await breaks(bench, 'b');
    (await bench.request('a')).release();
    expect((await refusalOf(bench.request('b'))).code).toBe('slot.failed');
    await bench.clock.advance(6_000);
    (await bench.request('b')).release();
    expect([bench.evicted, bench.controller('b').record().state]).toEqual([['a'], 'ready']);
  });

  it('a request for it gets the memory sum where nothing can be evicted, and a failed trial closes it again', async () => {
    const bench = new AdmissionBench(pair('pinned = true'), 2);
    await breaks(bench, 'b');
    (await bench.request('a')).release();
    await bench.clock.advance(6_000);
    for (const _ of [1, 2]) expect((await refusalOf(bench.request('b'))).code).toBe('slot.no_memory');
    await bench.controller('a').unload();
    bench.runner.loadsAtOnce = false;
    const trial = bench.request('b');
    bench.alive('b')[0]?.end('broken again');
    expect((await refusalOf(trial)).code).toBe('slot.failed');
    expect((await refusalOf(bench.request('b'))).options.details).toMatchObject({ failures: 2 });
  });

  it('nothing starts while the gateway is stopping', async () => {
    const bench = new AdmissionBench(pair(), 2);
    const lease = await bench.request('a');
    const request = bench.request('b');
    const closed = bench.controller('b').close(0);
    expect((await refusalOf(request)).code).toBe('slot.draining');
    await closed;
    lease.release();
    await bench.clock.advance(60_000);
    expect(bench.runner.starts).toBe(1);
  });
});

it('a decision that depends on time is rechecked at that time', async () => {
  const bench = new AdmissionBench(pair('parallel = 1'), 2);
  const lease = await bench.request('a');
  const waiting = bench.request('b');
  await bench.clock.advance(9_999);
  expect(bench.controller('a').record().state).toBe('serving');
  await bench.clock.advance(1);
  expect(bench.controller('a').record().state).toBe('draining');
  lease.release();
  (await waiting).release();
});

it('a load whose figures are being read is retried soon, evicts nothing, delays no other load, and keeps its position', async () => {
  const clock = new ManualClock();
  const retried: string[] = [];
  const queue = new AdmissionQueue({
    clock,
    decide: () => ({ kind: 'wait', sum: {} as never, for: ['x'], evict: [], wakeAt: null }),
    evict: (slot) => retried.push(`evict ${slot}`),
    retry: (slot) => retried.push(slot),
  });
  const load = (slot: string) => ({ slot, pool: 'card', needed: 5, free: 0, isRequested: true });
  expect(queue.defer(load('a'))).toEqual({ kind: 'wait', for: [] });
  expect(queue.queuedAhead('b', 'card')).toEqual({ bytes: 0, awaitedSlots: [] });
  await clock.advance(49);
  expect(retried).toEqual([]);
  await clock.advance(1);
  expect(retried).toEqual(['a']);
  queue.admit(load('a'));
  expect(queue.defer(load('a'))).toEqual({ kind: 'wait', for: ['x'] });
  expect(queue.queuedAhead('b', 'card')).toEqual({ bytes: 5, awaitedSlots: ['x'] });
});

it('keeps one timer, and none while the queue is empty', async () => {
  const timers = new Set<() => void>();
  const clock = {
    now: () => 0,
    after: (_: number, act: () => void) => {
      timers.add(act);
      return () => void timers.delete(act);
    },
  };
  const sum = {} as never;
  const queue = new AdmissionQueue({
    clock,
    decide: () => ({ kind: 'wait', sum, for: [], evict: [], wakeAt: null }),
    evict: () => {},
    retry: () => {},
  });
  for (const slot of ['a', 'b', 'c'])
    queue.admit({ slot, pool: 'host', needed: 1, free: 0, isRequested: true });
  expect(timers.size).toBe(1);
  for (const slot of ['a', 'b', 'c']) queue.withdraw(slot);
  expect(timers.size).toBe(0);
});
