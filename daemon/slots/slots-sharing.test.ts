/** Slots with the same model and equal settings use one engine: every order of loads, unloads, crashes and changes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lease } from './lifecycle/lease.ts';
import type { Slots } from './slots.ts';
import { AdminBench, GIB } from './testing/admin-bench.ts';
import { settle } from './testing/manual-clock.ts';
import { refusalOf } from './testing/refusal-of.ts';

let bench: AdminBench;
let slots: Slots;
let held: Lease[];
beforeEach(() => {
  bench = new AdminBench();
  held = [];
  bench.slotFile('agent', 'autoload = false\nmodel = "huge"\n');
  bench.slotFile('a', 'model = "small"\n');
  bench.slotFile('b', 'model = "small"\n');
  slots = bench.openAdmin();
});
afterEach(async () => {
  for (const lease of held) lease.release();
  await bench.remove();
});

const request = (name: string, signal = new AbortController().signal): Promise<Lease> => {
  const lease = slots.ensureReady(name, { signal, stream: false });
  lease.then(
    (granted) => held.push(granted),
    () => {},
  );
  return lease;
};
const states = () => ['a', 'b'].map((name) => slots.get(name)?.state);
const alive = () => bench.runner.engines.filter(({ hasEnded }) => !hasEnded);
const write = (name: string, text: string): void => {
  bench.slotFile(name, text);
  slots.reload();
};

describe('one engine', () => {
  it('serves both slots, whichever is requested; each lease names its slot', async () => {
    const [first, second] = await Promise.all([request('b'), request('a')]);
    expect(bench.runner.starts).toBe(1);
    expect([first.slot, second.slot]).toEqual(['b', 'a']);
    expect(first.origin).toBe(second.origin);
    expect(states()).toEqual(['serving', 'serving']);
    first.release();
    second.release();
    expect(states()).toEqual(['ready', 'ready']);
    const immediate = slots.leaseNow('a', {});
    expect(immediate?.slot).toBe('a');
    immediate?.release();
  });

  it.each([['a'], ['b']])('a load of both at once starts one engine (%s first)', async (name) => {
    const other = name === 'a' ? 'b' : 'a';
    const records = await Promise.all([slots.load(name), slots.load(other)]);
    expect(records.map(({ state }) => state)).toEqual(['ready', 'ready']);
    expect(bench.runner.starts).toBe(1);
  });

  it('counts its memory once, and has one queue with one limit', async () => {
    const parallel = slots.config('a')?.parallel as number;
    const leases = await Promise.all(Array.from({ length: parallel }, () => request('a')));
    const waiting = request('b');
    await settle();
    expect(slots.leaseNow('b', {})).toBeNull();
    expect(slots.get('b')).toMatchObject({ active: parallel, queued: 1, memory: null, memory_bytes: null });
    expect(slots.get('a')).toMatchObject({
      active: parallel,
      queued: 1,
      memory: { needed_bytes: expect.any(Number) },
    });
    leases[0]?.release();
    expect((await waiting).slot).toBe('b');
  });

  it('is shown by both records, and by none before there are two', async () => {
    expect(slots.get('a')?.shared_engine).toEqual({ slot: null, with: ['b'], used_by: [] });
    await slots.load('b');
    expect(slots.get('a')?.shared_engine).toEqual({ slot: 'b', with: ['b'], used_by: ['b'] });
    await slots.load('a');
    expect(slots.get('b')?.shared_engine).toEqual({ slot: 'b', with: ['a'], used_by: ['b', 'a'] });
    write('a', 'model = "small"\nparallel = 1\n');
    expect([slots.get('a')?.shared_engine, slots.get('b')?.shared_engine]).toEqual([undefined, undefined]);
    expect(slots.get('agent')?.shared_engine).toBeUndefined();
  });

  it('each slot says what it requested and does not get', async () => {
    write('a', 'model = "small"\ncontext = 9999\n');
    const lease = await request('b');
    expect(lease.degraded).toBeNull();
    expect((await request('a')).degraded).toContain('instead of 9999');
    expect(bench.runner.starts).toBe(1);
    expect(slots.get('a')?.degraded).toContain('instead of 9999');
    expect(slots.get('b')?.degraded).toBeNull();
    write('b', 'model = "small"\nspeculation = "off"\n');
    expect(slots.get('b')).toMatchObject({ state: 'serving', speculation: { way: 'off' } });
    write('a', 'model = "small"\n');
    expect(slots.get('a')?.degraded).toBeNull();
  });

  it('is used further after a measurement of its model', async () => {
    await slots.load('a');
    const ngram = { repeats: { off: 10, ngram: 9 }, plain: { off: 10, ngram: 9 } };
    bench.models[0] = { ...bench.models[0], ngram } as (typeof bench.models)[0];
    slots.followModels('');
    (await request('b')).release();
    expect(bench.runner.starts).toBe(1);
  });

  it('emits the records of both when it changes', async () => {
    const emitted = new Set<string>();
    bench.bus.subscribe(({ name, payload }) => {
      if (name === 'slot') emitted.add((payload as { slot: { name: string } }).slot.name);
    });
    await bench.clock.advance(200);
    emitted.clear();
    await slots.load('a');
    await bench.clock.advance(200);
    expect([...emitted].sort()).toEqual(['a', 'b']);
  });

  it('is not started again where memory for two is missing', async () => {
    bench.models[0] = { ...bench.models[0], sizeBytes: 3 * GIB } as (typeof bench.models)[0];
    bench.memory = 5 * GIB;
    write('a', 'model = "small"\npinned = true\n');
    await slots.load('a');
    bench.memory = 0;
    expect(slots.preview('b')).toEqual({ load: null, refusal: null, sharesEngineOf: 'a' });
    expect(slots.plan('b')).toMatchObject({
      shares_engine_of: 'a',
      forecast: { outcome: 'starts', evicts: [] },
    });
    expect(await slots.load('b')).toMatchObject({ state: 'ready' });
    expect(bench.runner.starts).toBe(1);
  });
});

describe('unload', () => {
  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('of %s leaves the engine to %s; the last one ends it', async (first, last) => {
    await slots.load('a');
    await slots.load('b');
    expect(await slots.unload(first)).toMatchObject({
      state: 'ready',
      shared_engine: { slot: 'a', used_by: [last] },
    });
    expect(alive()).toHaveLength(1);
    expect(await slots.unload(last)).toMatchObject({ state: 'offline', shared_engine: { slot: null } });
    expect(states()).toEqual(['offline', 'offline']);
    expect(alive()).toHaveLength(0);
  });

  it('does not interrupt a request of the other slot', async () => {
    await slots.load('a');
    const lease = await request('b');
    await slots.unload('a');
    expect(states()).toEqual(['serving', 'serving']);
    lease.release();
    expect(alive()).toHaveLength(1);
  });

  const busy = async (name: string) => {
    const parallel = slots.config(name)?.parallel as number;
    return await Promise.all(Array.from({ length: parallel }, () => request(name)));
  };

  it('leaves a busy engine to a slot whose first request waits', async () => {
    const [lease] = await busy('a');
    const waiting = request('b');
    expect(await slots.unload('a')).toMatchObject({ state: 'serving', shared_engine: { used_by: ['b'] } });
    lease?.release();
    expect((await waiting).slot).toBe('b');
    expect(bench.runner.starts).toBe(1);
    expect(slots.get('b')?.shared_engine?.used_by).toEqual(['b']);
  });

  it('leaves an engine that loads to a slot whose first request waits', async () => {
    bench.runner.loadsAtOnce = false;
    const loaded = slots.load('a');
    const waiting = request('b');
    await slots.unload('a');
    bench.runner.last.load();
    expect((await waiting).slot).toBe('b');
    expect(await loaded).toMatchObject({ shared_engine: { slot: 'a', used_by: ['b'] } });
    expect(bench.runner.starts).toBe(1);
  });

  it('of the only user that is left does not end an engine for which its own loader waits', async () => {
    await slots.load('a');
    const [lease] = await busy('b');
    await slots.unload('a');
    const waiting = request('a');
    expect(await slots.unload('b')).toMatchObject({ shared_engine: { used_by: ['a'] } });
    lease?.release();
    expect((await waiting).slot).toBe('a');
    expect(bench.runner.starts).toBe(1);
  });

  it('ends the engine after its requests when the last caller that waits for it leaves', async () => {
    const leases = await busy('a');
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [first, second].map(({ signal }) => request('b', signal).catch(() => null));
    await slots.unload('a');
    first.abort();
    await waiting[0];
    expect(slots.get('b')?.shared_engine?.used_by).toEqual(['b']);
    second.abort();
    await waiting[1];
    expect(states()).toEqual(['draining', 'draining']);
    for (const lease of leases) lease.release();
    await settle();
    expect(alive()).toHaveLength(0);
  });

  it('is undone by the next request of the slot', async () => {
    await slots.load('a');
    (await request('b')).release();
    await slots.unload('a');
    (await request('a')).release();
    await slots.unload('b');
    expect(slots.get('a')).toMatchObject({ state: 'ready', shared_engine: { used_by: ['a'] } });
  });

  it('of a slot that never used the engine leaves it alone', async () => {
    await slots.load('a');
    await slots.unload('b');
    expect(states()).toEqual(['ready', 'ready']);
  });

  it('ends an engine without users once its last user is changed or removed', async () => {
    await slots.load('a');
    await slots.load('b');
    await slots.unload('a');
    write('b', 'model = "small"\nparallel = 1\n');
    await settle();
    expect(alive()).toHaveLength(0);
  });
});

describe('the idle time', () => {
  const idle = async (a: string, b: string) => {
    write('a', `model = "small"\nidle_unload = ${a}\n`);
    write('b', `model = "small"\nidle_unload = ${b}\n`);
    (await request('a')).release();
    (await request('b')).release();
  };

  it.each([
    ['60', '600'],
    ['600', '60'],
  ])('is the longest of the slots that use it (%s and %s)', async (a, b) => {
    await idle(a, b);
    await bench.clock.advance(599_000);
    expect(states()).toEqual(['ready', 'ready']);
    await bench.clock.advance(1_500);
    expect(states()).toEqual(['offline', 'offline']);
  });

  it.each([
    ['60', '600', 599],
    ['600', '60', 599],
    ['60', '0', 100_000],
  ])('of a slot that is loaded without a request counts too (%s and %s)', async (a, b, staysS) => {
    write('a', `model = "small"\nidle_unload = ${a}\n`);
    write('b', `model = "small"\nidle_unload = ${b}\n`);
    await slots.load('a');
    await slots.load('b');
    await bench.clock.advance(staysS * 1_000);
    expect(states()).toEqual(['ready', 'ready']);
    if (b === '0') return;
    await bench.clock.advance(1_500);
    expect(states()).toEqual(['offline', 'offline']);
  });

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('of %s does not count after its unload', async (first, last) => {
    write(first, 'model = "small"\nidle_unload = 0\n');
    write(last, 'model = "small"\nidle_unload = 60\n');
    await slots.load('a');
    await slots.load('b');
    await slots.unload(first);
    await bench.clock.advance(59_000);
    expect(states()).toEqual(['ready', 'ready']);
    await bench.clock.advance(1_500);
    expect(states()).toEqual(['offline', 'offline']);
  });

  it('0 of either means never', async () => {
    await idle('60', '0');
    await bench.clock.advance(3_600_000);
    expect(states()).toEqual(['ready', 'ready']);
  });

  it('of a slot that does not use it does not count', async () => {
    write('a', 'model = "small"\nidle_unload = 60\n');
    write('b', 'model = "small"\nidle_unload = 0\n');
    (await request('a')).release();
    await bench.clock.advance(61_000);
    expect(states()).toEqual(['offline', 'offline']);
  });
});

describe('a load that waits for memory', () => {
  beforeEach(async () => {
    for (const at of [0, 1])
      bench.models[at] = { ...bench.models[at], sizeBytes: 3 * GIB } as (typeof bench.models)[0];
    bench.memory = 5 * GIB;
    bench.slotFile('other', 'model = "other"\n');
    slots.reload();
    held.push(await slots.ensureReady('other', { signal: new AbortController().signal, stream: false }));
  });
  const other = () => held.shift()?.release();

  it('is not cancelled by an unload of the other slot', async () => {
    const loaded = slots.load('a');
    await settle();
    expect(slots.get('a')?.waiting_for).toEqual(['other']);
    await slots.unload('b');
    other();
    await bench.clock.advance(60_000);
    expect(await loaded).toMatchObject({ state: 'ready' });
  });

  it('goes on for the other slot, whose load waits for it too', async () => {
    const first = slots.load('a');
    const second = slots.load('b');
    await settle();
    await slots.unload('a');
    other();
    await bench.clock.advance(60_000);
    expect(await second).toMatchObject({ state: 'ready', shared_engine: { slot: 'a' } });
    await first;
    expect(bench.runner.starts).toBe(2);
  });

  it('ends where the engine of another slot serves it by now: callers choose again, loads are complete', async () => {
    write('b', 'model = "other"\nparallel = 1\n');
    const loaded = slots.load('b');
    const waiting = refusalOf(request('b'));
    await settle();
    expect(slots.get('b')?.waiting_for).toEqual(['other']);
    write('b', 'model = "other"\n');
    await bench.clock.advance(1_000);
    expect((await waiting).constructor.name).toBe('RedispatchError');
    expect(await loaded).toMatchObject({ state: 'serving', shared_engine: { slot: 'other' } });
    expect(bench.runner.starts).toBe(1);
  });
});

describe('the event and the log line of a slot that begins to share', () => {
  it('are written once for each engine, with the times of its load', async () => {
    const joined: unknown[] = [];
    slots.onEvent(({ kind, slot, model, startedAt, at }) => {
      if (kind === 'joined') joined.push({ slot, model, loadMs: at - startedAt });
    });
    bench.runner.loadsAtOnce = false;
    const loads = [slots.load('a'), slots.load('b')];
    await bench.clock.advance(3_000);
    bench.runner.last.load();
    await Promise.all(loads);
    await bench.clock.advance(9_000);
    (await request('b')).release();
    (await request('b')).release();
    expect(joined).toEqual([{ slot: 'b', model: 'small', loadMs: 3_000 }]);
    const lines = bench.logged.filter((line) => line.includes('slot uses the engine of another slot'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ slot: 'b', host: 'a', model: 'small' }]);
    bench.runner.loadsAtOnce = true;
    await slots.restart('a');
    await settle();
    expect(joined).toHaveLength(2);
  });

  it('are not written for a slot that loads its own engine', async () => {
    const kinds: string[] = [];
    slots.onEvent(({ kind }) => kinds.push(kind));
    await slots.load('a');
    (await request('a')).release();
    expect(kinds).toEqual(['loaded']);
  });
});

describe('a load of the other slot', () => {
  it.each([
    ['removed', (name: string) => slots.remove(name)],
    ['disabled', async (name: string) => void (await slots.change(name, { enabled: false }))],
  ])('goes on with its own engine when the slot that loads is %s', async (_, act) => {
    bench.runner.loadsAtOnce = false;
    const first = refusalOf(slots.load('a'));
    const second = slots.load('b');
    await settle();
    bench.runner.loadsAtOnce = true;
    await act('a');
    await first;
    expect(await second).toMatchObject({ state: 'ready' });
    expect(alive().map(({ launch }) => launch.slot)).toEqual(['b']);
  });

  it('fails like the load of the slot that loads', async () => {
    bench.runner.loadsAtOnce = false;
    const refusals = Promise.all([refusalOf(slots.load('a')), refusalOf(slots.load('b'))]);
    await settle();
    bench.runner.last.end('The file is damaged.');
    expect((await refusals).map(({ code }) => code)).toEqual(['slot.failed', 'slot.failed']);
    expect(bench.runner.starts).toBe(1);
  });
});

describe('pinned', () => {
  it('of either slot that uses the engine protects it', async () => {
    write('b', 'model = "small"\npinned = true\n');
    bench.models[0] = { ...bench.models[0], sizeBytes: 3 * GIB } as (typeof bench.models)[0];
    bench.models[1] = { ...bench.models[1], sizeBytes: 3 * GIB } as (typeof bench.models)[0];
    bench.slotFile('other', 'model = "other"\n');
    slots.reload();
    bench.memory = 5 * GIB;
    await slots.load('a');
    await slots.load('b');
    expect((await refusalOf(slots.load('other'))).code).toBe('slot.no_memory');
    await slots.unload('b');
    await bench.clock.advance(1_000);
    const loaded = slots.load('other');
    await bench.clock.advance(1_000);
    expect(await loaded).toMatchObject({ state: 'ready' });
    expect(states()).toEqual(['offline', 'offline']);
  });
});

describe('a failure', () => {
  it('is one fact: three equal slots share one back-off and one engine', async () => {
    bench.slotFile('c', 'model = "small"\n');
    slots.reload();
    bench.runner.loadsAtOnce = false;
    const first = refusalOf(request('a'));
    await settle();
    bench.runner.last.end('The file is damaged.');
    expect((await first).code).toBe('slot.failed');
    for (const name of ['b', 'c', 'a']) expect((await refusalOf(request(name))).code).toBe('slot.failed');
    expect(bench.runner.starts).toBe(1);
    const failures = ['a', 'b', 'c'].map((name) => slots.get(name)?.failure);
    expect(failures).toEqual([failures[0], failures[0], failures[0]]);
    expect(failures[0]).toMatchObject({ failures: 1 });
    await bench.clock.advance(5_000);
    expect(bench.runner.starts).toBe(2);
    bench.runner.last.load();
    await settle();
    expect(['a', 'b', 'c'].map((name) => slots.get(name)?.state)).toEqual(['ready', 'ready', 'ready']);
  });

  it('a crash refuses the waiting callers of both, and a load of either is the trial', async () => {
    const parallel = slots.config('a')?.parallel as number;
    await Promise.all(Array.from({ length: parallel }, () => request('a')));
    const waiting = refusalOf(request('b'));
    await settle();
    bench.runner.last.end('killed');
    expect((await waiting).code).toBe('slot.failed');
    expect(states()).toEqual(['error', 'error']);
    expect(await slots.load('b')).toMatchObject({ state: 'ready', failure: null });
    expect(states()).toEqual(['ready', 'ready']);
    expect(alive()).toHaveLength(1);
  });

  it('leaves the slots that used the engine its users after the retry', async () => {
    write('b', 'model = "small"\npinned = true\nidle_unload = 0\n');
    await slots.load('a');
    await slots.load('b');
    bench.runner.last.end('killed');
    await settle();
    expect(states()).toEqual(['error', 'error']);
    await bench.clock.advance(5_000);
    expect(slots.get('a')).toMatchObject({ state: 'ready', shared_engine: { used_by: ['a', 'b'] } });
    await bench.clock.advance(3_600_000);
    expect(states()).toEqual(['ready', 'ready']);
  });

  it('that is cleared by an unload ends the use of all slots', async () => {
    await slots.load('a');
    await slots.load('b');
    bench.runner.last.end('killed');
    await settle();
    await slots.unload('a');
    expect(await slots.load('a')).toMatchObject({ shared_engine: { used_by: ['a'] } });
  });

  it('of a slot that another one serves by now is not retried', async () => {
    write('b', 'model = "small"\nparallel = 1\n');
    await slots.load('b');
    bench.runner.loadsAtOnce = false;
    const first = refusalOf(request('a'));
    await settle();
    bench.runner.last.end('broken');
    await first;
    write('b', 'model = "small"\n');
    bench.runner.loadsAtOnce = true;
    await slots.restart('b');
    expect(slots.get('a')).toMatchObject({ state: 'ready', failure: null });
    const { starts } = bench.runner;
    await bench.clock.advance(60_000);
    expect(bench.runner.starts).toBe(starts);
    (await request('a')).release();
  });

  it('is cleared by an unload of either', async () => {
    bench.runner.loadsAtOnce = false;
    const first = refusalOf(request('a'));
    await settle();
    bench.runner.last.end('broken');
    await first;
    expect(await slots.unload('b')).toMatchObject({ state: 'offline', failure: null });
    expect(states()).toEqual(['offline', 'offline']);
  });
});

describe('a change of the settings', () => {
  it('splits the slots at once: the other one is not interrupted', async () => {
    await slots.load('a');
    await slots.load('b');
    write('b', 'model = "small"\nparallel = 1\n');
    expect(states()).toEqual(['ready', 'offline']);
    (await request('b')).release();
    expect(bench.runner.engines.map(({ launch }) => [launch.slot, launch.parallel])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(alive()).toHaveLength(2);
  });

  it('of the slot that loaded the engine: it serves that slot until its restart, and the other loads its own', async () => {
    await slots.load('a');
    await slots.load('b');
    write('a', 'model = "small"\nparallel = 1\n');
    expect(states()).toEqual(['ready', 'offline']);
    expect(slots.get('a')?.parallel).toBe(2);
    expect(await slots.restart('a')).toMatchObject({ state: 'ready', parallel: 1 });
    await settle();
    expect(states()).toEqual(['ready', 'ready']);
    expect(slots.get('b')).toMatchObject({ parallel: 2 });
    expect(alive()).toHaveLength(2);
  });

  it.each([
    ['changed, loaded and unloaded', 'parallel = 1\n', true],
    ['changed', 'parallel = 1\n', false],
    ['disabled', 'enabled = false\n', false],
  ])('a restart of the slot that loaded the engine does not load one that was %s', async (_, text, loads) => {
    await slots.load('a');
    await slots.load('b');
    write('b', `model = "small"\n${text}`);
    if (loads) await slots.load('b');
    if (loads) await slots.unload('b');
    await slots.restart('a');
    await settle();
    expect(states()).toEqual(['ready', 'offline']);
    expect(bench.logged.join('')).not.toContain('slot is not loaded');
  });

  it('a restart after its own change does not load a slot that has had its own engine since', async () => {
    await slots.load('a');
    await slots.load('b');
    write('a', 'model = "small"\nparallel = 1\n');
    await slots.load('b');
    await slots.unload('b');
    await slots.restart('a');
    await settle();
    expect(states()).toEqual(['ready', 'offline']);
  });

  it('back to equal settings: the slot uses the loaded engine again', async () => {
    await slots.load('a');
    write('b', 'model = "small"\nparallel = 1\n');
    write('b', 'model = "small"\n');
    await slots.load('b');
    expect(bench.runner.starts).toBe(1);
  });

  it('while a caller of the other slot waits: it is served with its own settings', async () => {
    bench.runner.loadsAtOnce = false;
    const owner = request('a');
    const guest = request('b');
    await settle();
    write('b', 'model = "small"\nparallel = 1\n');
    bench.runner.last.load();
    (await owner).release();
    expect((await refusalOf(guest)).constructor.name).toBe('RedispatchError');
    expect(alive()).toHaveLength(1);
  });

  it('two engines that became equal both serve until one of them ends', async () => {
    write('b', 'model = "small"\nparallel = 1\n');
    await slots.load('a');
    await slots.load('b');
    write('b', 'model = "small"\n');
    expect(alive()).toHaveLength(2);
    expect(await slots.unload('b')).toMatchObject({ state: 'ready', shared_engine: { slot: 'a' } });
    expect(alive()).toHaveLength(1);
  });
});

describe('a slot is removed or disabled', () => {
  const remove = (name: string) => slots.remove(name);
  const disable = async (name: string) => void (await slots.change(name, { enabled: false }));

  it.each([
    ['removed', remove],
    ['disabled', disable],
  ])('%s: the one that loaded the engine; the other loads its own', async (_, act) => {
    await slots.load('a');
    await slots.load('b');
    await act('a');
    await settle();
    expect(slots.get('b')).toMatchObject({ state: 'ready' });
    expect(slots.get('b')?.shared_engine).toBeUndefined();
    expect(alive().map(({ launch }) => launch.slot)).toEqual(['b']);
  });

  it.each([
    ['removed', remove],
    ['disabled', disable],
  ])('%s: the other one; the engine goes on', async (_, act) => {
    await slots.load('a');
    await slots.load('b');
    await act('b');
    await settle();
    expect(alive().map(({ launch }) => launch.slot)).toEqual(['a']);
    expect(bench.runner.starts).toBe(1);
  });

  it.each([
    ['removed', remove],
    ['disabled', disable],
  ])('%s while a caller of the other one waits: the caller chooses again and is served', async (_, act) => {
    const parallel = slots.config('a')?.parallel as number;
    const leases = await Promise.all(Array.from({ length: parallel }, () => request('a')));
    const waiting = refusalOf(request('b'));
    const acted = act('a');
    expect((await waiting).constructor.name).toBe('RedispatchError');
    const again = request('b');
    for (const lease of leases) lease.release();
    await acted;
    expect((await again).slot).toBe('b');
  });
});

describe('restart and swap', () => {
  it('a restart of either restarts the engine of both', async () => {
    await slots.load('a');
    await slots.load('b');
    expect(await slots.restart('b')).toMatchObject({ state: 'ready' });
    await settle();
    expect(states()).toEqual(['ready', 'ready']);
    expect(bench.runner.starts).toBe(2);
    expect(alive()).toHaveLength(1);
    expect(slots.get('b')?.shared_engine?.used_by).toEqual(['a', 'b']);
  });

  it('a swap of the other slot does not interrupt the engine', async () => {
    await slots.load('a');
    const lease = await request('b');
    expect(await slots.swap('b', { modelId: 'other' })).toMatchObject({ state: 'ready', model: 'other' });
    expect(alive().map(({ launch }) => launch.modelId)).toEqual(['small', 'other']);
    lease.release();
  });

  it('a swap of the slot that loaded the engine drains it, and the other loads its own afterwards', async () => {
    await slots.load('a');
    const lease = await request('b');
    const swapped = slots.swap('a', { modelId: 'other' });
    await settle();
    lease.release();
    expect(await swapped).toMatchObject({ state: 'ready', model: 'other' });
    await settle();
    expect(slots.get('b')).toMatchObject({ state: 'ready', model: 'small' });
    expect(alive().map(({ launch }) => launch.modelId)).toEqual(['other', 'small']);
  });

  it('a swap to the model of a loaded slot uses its engine, whatever memory is free', async () => {
    bench.slotFile('other', 'model = "other"\n');
    slots.reload();
    await slots.load('other');
    await slots.load('a');
    bench.memory = 0;
    expect(slots.plan('a', { modelId: 'other' })).toMatchObject({
      shares_engine_of: 'other',
      forecast: { outcome: 'starts' },
    });
    expect(await slots.swap('a', { modelId: 'other' })).toMatchObject({
      state: 'ready',
      model: 'other',
      shared_engine: { slot: 'other', used_by: ['other', 'a'] },
    });
    expect(alive().map(({ launch }) => launch.modelId)).toEqual(['other']);
  });

  it('a swap to the model of a loaded slot while a caller waits: the caller chooses again', async () => {
    bench.slotFile('other', 'model = "other"\n');
    slots.reload();
    await slots.load('other');
    const parallel = slots.config('a')?.parallel as number;
    const leases = await Promise.all(Array.from({ length: parallel }, () => request('a')));
    const waiting = refusalOf(request('a'));
    const swapped = slots.swap('a', { modelId: 'other' });
    expect((await waiting).constructor.name).toBe('RedispatchError');
    for (const lease of leases) lease.release();
    expect(await swapped).toMatchObject({ state: 'ready', model: 'other' });
    expect(alive().map(({ launch }) => launch.modelId)).toEqual(['other']);
  });
});
