import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holderOf, memorySnapshot } from '../testing/memory.ts';
import { decideLoad, type Holder, KEEP_FREE_BYTES, type LoadDecision, memorySum } from './eviction.ts';
import { IDLE_GRACE_MS, sliceMs } from './time-slice.ts';

const GIB = 1024 ** 3;
const gib = (name: string, over: Partial<Holder> = {}) =>
  holderOf(name, { heldBytes: GIB, freedBytes: GIB, ...over });
/** A load of 1 GiB on a full pool, long after all other events. */
const full = (holders: Holder[], over = {}) =>
  memorySnapshot({ needed: GIB, free: KEEP_FREE_BYTES, holders, now: 1e6, waitingSince: 1e6, ...over });
const evicted = (decision: LoadDecision) => (decision.kind === 'wait' ? decision.evict : decision.kind);

describe('memorySum', () => {
  it('fits when the need, the reservations and the free reserve fit into free memory', () => {
    const sum = (free: number) => memorySum(memorySnapshot({ needed: GIB, reserved: GIB, free }));
    expect(sum(2 * GIB + KEEP_FREE_BYTES).short).toBe(0);
    expect(sum(2 * GIB + KEEP_FREE_BYTES - 1).short).toBe(1);
  });

  it('counts the memory of slots against the limit, regardless of free memory', () => {
    const limited = memorySnapshot({
      needed: GIB,
      free: 99 * GIB,
      limit: 2 * GIB,
      holders: [gib('a'), gib('b')],
    });
    expect(memorySum(limited)).toMatchObject({ short: GIB, held: 2 * GIB, limit: 2 * GIB });
  });

  it('lists the candidates: idle first, then shortest reload, then least recently used, each with the reason for not evicting it', () => {
    const snapshots = full([
      gib('slow', { reloadMs: 9_000 }),
      gib('busy', { reloadMs: 1, serving: true }),
      gib('recent', { lastUsedAt: 5 }),
      gib('protected', { reloadMs: 2, pinned: true }),
      gib('old', { lastUsedAt: 1 }),
      gib('fresh', { reloadMs: 10_000, lastUsedAt: 1e6 }),
      gib('coming', { state: 'loading' }),
      gib('low', { priority: -1, reloadMs: 20_000 }),
      gib('going', { priority: -2, pinned: true, state: 'stopping' }),
    ]);
    expect(memorySum(snapshots).victims.map(({ slot, stays }) => [slot, stays])).toEqual([
      ['going', null],
      ['low', null],
      ['protected', 'pinned'],
      ['old', null],
      ['recent', null],
      ['slow', null],
      ['fresh', 'turn'],
      ['busy', 'serving'],
      ['coming', 'loading'],
    ]);
  });
});

describe('decideLoad', () => {
  it('starts a load that fits and evicts nothing', () => {
    expect(decideLoad(full([gib('a')], { free: 9 * GIB })).kind).toBe('start');
  });

  it.each<[string, Holder[], string[] | string]>([
    ['evicts an idle slot', [gib('a')], ['a']],
    ['evicts the slot with the shortest reload', [gib('a', { reloadMs: 9_000 }), gib('b')], ['b']],
    [
      'evicts the least recently used of equal slots',
      [gib('a', { lastUsedAt: 2 }), gib('b', { lastUsedAt: 1 })],
      ['b'],
    ],
    ['evicts a lower priority first', [gib('a', { priority: 1, reloadMs: 1 }), gib('b')], ['b']],
    [
      'evicts an idle slot rather than a busy one',
      [gib('a', { serving: true, reloadMs: 1 }), gib('b')],
      ['b'],
    ],
    ['evicts no more than is needed', [gib('a', { freedBytes: 1 }), gib('b', { reloadMs: 2_000 })], ['b']],
    [
      'as many as are needed',
      [gib('a', { freedBytes: GIB / 2 }), gib('b', { freedBytes: GIB / 2 })],
      ['a', 'b'],
    ],
    ['never evicts a pinned slot', [gib('a', { pinned: true })], 'refuse'],
    [
      'evicts one slot besides a pinned one that is stopping',
      [gib('a', { freedBytes: GIB / 2 }), gib('b', { freedBytes: GIB / 2, pinned: true, state: 'stopping' })],
      ['a'],
    ],
    [
      'evicts none yet while a pinned slot drains',
      [gib('a', { freedBytes: GIB / 2 }), gib('b', { freedBytes: GIB / 2, pinned: true, state: 'draining' })],
      [],
    ],
    ['refuses when evicting all would not be enough', [gib('a', { freedBytes: 5 })], 'refuse'],
    ['evicts none while a leaving slot frees enough', [gib('a'), gib('b', { state: 'stopping' })], []],
    [
      'evicts one more slot when that is not enough',
      [gib('a'), gib('b', { state: 'stopping', freedBytes: 5 })],
      ['a'],
    ],
    [
      'an idle slot stays while the load waits for a busy one',
      [gib('a', { freedBytes: GIB - 5 }), gib('b', { serving: true, freedBytes: 5 })],
      ['b'],
    ],
    [
      'an idle slot stays while another drains',
      [gib('a', { freedBytes: GIB - 5 }), gib('b', { state: 'draining', freedBytes: 5 })],
      [],
    ],
    ['waits for a load in progress', [gib('a', { state: 'loading' })], []],
  ])('%s', (_, holders, expected) => {
    const late = holders.map((one) => ({ ...one, readySince: -1e9 }));
    expect(evicted(decideLoad(full(late, { now: 2e9, waitingSince: 1e6 })))).toEqual(expected);
  });

  it('a load without a caller evicts nothing, but waits for memory that is being freed', () => {
    expect(decideLoad(full([gib('a')], { isRequested: false })).kind).toBe('refuse');
    expect(decideLoad(full([gib('a', { state: 'stopping' })], { isRequested: false }))).toMatchObject({
      kind: 'wait',
      for: ['a'],
    });
  });

  it('a later load waits, and evicts nothing while memory is meant for earlier loads', () => {
    const behind = full([gib('a')], { ahead: GIB });
    expect(decideLoad(behind)).toMatchObject({ kind: 'wait', evict: [] });
    expect(decideLoad({ ...behind, free: 9 * GIB }).kind).toBe('start');
  });

  it('a later load may overtake when the earlier ones fit once their victims have ended', () => {
    const some = full([gib('a', { freedBytes: 2 * GIB })], { ahead: 2 * GIB, free: GIB + KEEP_FREE_BYTES });
    expect(decideLoad({ ...some, awaited: ['a'] }).kind).toBe('start');
    expect(decideLoad({ ...some, awaited: [] }).kind).toBe('wait');
    expect(decideLoad({ ...some, awaited: ['a'], ahead: 2 * GIB + 1 }).kind).toBe('wait');
  });

  it('waits for newer figures before it evicts', () => {
    const decision = decideLoad(full([gib('a')], { unreported: GIB }));
    expect(decision).toMatchObject({ kind: 'wait', for: [], evict: [], wakeAt: 1e6 + 250 });
  });
});

describe('time slices', () => {
  const busy = gib('a', { serving: true, readySince: 1e6, lastUsedAt: 1e6 });
  const at = (holder: Holder, now: number, waitingSince: number) =>
    decideLoad(full([holder], { now, waitingSince }));

  it('a slot serves for its time slice before it has to drain', () => {
    const end = 1e6 + sliceMs(1_000);
    expect(at(busy, 1e6, 0)).toMatchObject({ kind: 'wait', for: ['a'], evict: [], wakeAt: end });
    expect(evicted(at(busy, end, 0))).toEqual(['a']);
  });

  it('the time slice begins when another load begins to wait', () => {
    expect(evicted(at(busy, 2e6, 2e6))).toEqual([]);
    expect(evicted(at(busy, 2e6 + sliceMs(1_000), 2e6))).toEqual(['a']);
  });

  it('a slot without requests can be evicted after the grace period, at the latest at the end of its time slice', () => {
    const idle = { ...busy, serving: false };
    expect(at(idle, 1e6, 0)).toMatchObject({ evict: [], wakeAt: 1e6 + IDLE_GRACE_MS });
    expect(evicted(at(idle, 1e6 + IDLE_GRACE_MS, 0))).toEqual(['a']);
    const often = { ...idle, lastUsedAt: 1e6 + sliceMs(1_000) };
    expect(evicted(at(often, 1e6 + sliceMs(1_000), 0))).toEqual(['a']);
  });

  it('is longer for models that load slowly, within bounds', () => {
    expect([0, 20_000, 1e9].map(sliceMs)).toEqual([10_000, 40_000, 120_000]);
  });
});

const holder = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  state: fc.constantFrom('loaded', 'loading', 'draining', 'stopping') as fc.Arbitrary<Holder['state']>,
  serving: fc.boolean(),
  pinned: fc.boolean(),
  priority: fc.integer({ min: -1, max: 1 }),
  heldBytes: fc.nat(4).map((n) => n * GIB),
  freedBytes: fc.nat(4).map((n) => n * GIB),
  reloadMs: fc.nat(100_000),
  readySince: fc.nat(1_000),
  lastUsedAt: fc.nat(1_000_000),
});
const snapshots = fc.record({
  pool: fc.constant('host'),
  needed: fc.nat(6).map((n) => n * GIB),
  free: fc.nat(8).map((n) => n * GIB),
  reserved: fc.nat(2).map((n) => n * GIB),
  unreported: fc.nat(2).map((n) => n * GIB),
  limit: fc.option(fc.nat(9).map((n) => n * GIB)),
  ahead: fc.nat(3).map((n) => n * GIB),
  awaited: fc.subarray(['a', 'b', 'c']),
  holders: fc.uniqueArray(holder, { selector: ({ name }) => name }),
  waitingSince: fc.nat(1_000_000),
  now: fc.nat(2_000_000),
  isRequested: fc.boolean(),
});

it('property: never evicts a pinned, leaving, loading or useless slot, never exceeds the memory, and always makes progress', () => {
  fc.assert(
    fc.property(snapshots, (snapshot) => {
      const decision = decideLoad(snapshot);
      const { short } = memorySum(snapshot);
      if (decision.kind === 'start') {
        expect(snapshot.needed === 0 || memorySum({ ...snapshot, ahead: 0 }).short === 0).toBe(true);
        return;
      }
      const of = (name: string) => snapshot.holders.find((one) => one.name === name) as Holder;
      if (decision.kind === 'refuse') {
        expect(short).toBeGreaterThan(0);
        return;
      }
      for (const name of decision.evict) {
        expect(of(name)).toMatchObject({ pinned: false, state: 'loaded' });
        expect(decision.for).toContain(name);
        expect(snapshot.isRequested).toBe(true);
      }
      const evicting = decision.evict.map(of);
      const leaving = snapshot.holders.filter(({ state }) => state === 'draining' || state === 'stopping');
      for (const one of evicting) {
        const rest = evicting.filter((other) => other !== one);
        const without = {
          ...snapshot,
          holders: snapshot.holders.filter((h) => !rest.includes(h) && !leaving.includes(h)),
        };
        const left = [...rest, ...leaving];
        const free =
          snapshot.free + snapshot.unreported + left.reduce((sum, { freedBytes }) => sum + freedBytes, 0);
        const others = decision.for.map(of).filter((h) => !left.includes(h) && h !== one);
        if (others.length === 0)
          expect(
            memorySum({ ...without, free, needed: snapshot.needed + snapshot.ahead }).short,
          ).toBeGreaterThan(0);
      }
      const moves = decision.evict.length > 0 || decision.wakeAt !== null;
      const byOthers = decision.for.some((name) => of(name).state !== 'loaded') || snapshot.ahead > 0;
      expect(moves || byOthers).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
