import { describe, expect, it } from 'vitest';
import { currentOf } from '../testing/memory.ts';
import {
  mappedBytes,
  poolOf,
  reservedBytes,
  reservedOnHost,
  toHolder,
  unreportedBytes,
} from './memory-use.ts';

const current = { neededBytes: 100, weightBytes: 60 };
const program = { mappedBytes: 0, deferredBytes: 25 };

describe('reservedBytes', () => {
  it.each([
    ['a load that has allocated nothing yet', currentOf(null, current), 0, 100],
    ['memory that the load has already allocated', currentOf(null, current), 70, 30],
    ['a load that has allocated more than it needs', currentOf(null, current), 170, 0],
    [
      'a load onto a card: its memory is not that of the process',
      currentOf(null, { ...current, pool: 'card' }),
      70,
      100,
    ],
    ['a running one: its mapped weights', currentOf('cpu', current), 30, 60],
    ['a running one with weights that are its own', currentOf('cpu', current), 95, 5],
    ['a running program: its cache and buffers', currentOf('cpu', { ...current, ...program }), 40, 25],
    ['a running program that has taken them', currentOf('cpu', { ...current, ...program }), 90, 10],
    ['a running one on a card', currentOf('vulkan', { ...current, pool: 'card' }), 30, 0],
  ])('%s', (_, engine, anonymous, bytes) => expect(reservedBytes(engine, anonymous)).toBe(bytes));
});

describe('reservedOnHost', () => {
  const onCard = { ...current, pool: 'card', hostBytes: 40 };
  it.each([
    ['experts, which are mapped', currentOf('vulkan', onCard), 999, 40],
    ['a program that loads', currentOf(null, { ...onCard, ...program }), 15, 25],
    ['a program that has loaded', currentOf('cuda', { ...onCard, ...program }), 15, 0],
    ['an engine without memory on the host', currentOf('vulkan', { ...current, pool: 'card' }), 0, 0],
  ])('%s', (_, engine, anonymous, bytes) => expect(reservedOnHost(engine, anonymous)).toBe(bytes));

  it('the weights are mapped unless the engine says otherwise', () => {
    expect([mappedBytes(currentOf('cpu', current)), mappedBytes(currentOf('cpu', program))]).toEqual([60, 0]);
  });
});

describe('toHolder', () => {
  const use = (engine = currentOf('cpu', current)) => ({
    name: 'a',
    state: 'ready' as const,
    pinned: false,
    priority: 0,
    lastUsedAt: 3,
    current: engine,
  });

  it('frees its reserved and used host memory', () => {
    expect(toHolder(use(), { anonymous: 30, reloadMs: 9 })).toMatchObject({
      state: 'loaded',
      serving: false,
      heldBytes: 100,
      freedBytes: 90,
      reloadMs: 9,
    });
  });

  it('frees what an attached server reports to hold', () => {
    const running = Object.assign(currentOf(null).running, { heldBytes: () => 4_000 });
    const attached = currentOf('remote', { neededBytes: 0, pool: 'card', running });
    expect(toHolder(use(attached), { anonymous: 0, reloadMs: 9 })).toMatchObject({
      heldBytes: 4_000,
      freedBytes: 4_000,
    });
  });

  it('frees the granted memory on a card', () => {
    const onCard = currentOf('vulkan', { ...current, pool: 'card' });
    expect(toHolder(use(onCard), { anonymous: 30, reloadMs: 9 }).freedBytes).toBe(100);
  });

  it.each([
    ['starting', 'loading', false],
    ['warming', 'loading', false],
    ['ready', 'loaded', false],
    ['serving', 'loaded', true],
    ['draining', 'draining', true],
    ['stopping', 'stopping', false],
  ] as const)('%s is %s', (state, phase, serving) => {
    expect(toHolder({ ...use(), state }, { anonymous: 0, reloadMs: 0 })).toMatchObject({
      state: phase,
      serving,
    });
  });
});

it('an engine that fell back to the CPU uses host memory, regardless of the admission', () => {
  expect(poolOf(currentOf('cpu', { pool: 'card' }))).toBe('host');
  expect(poolOf(currentOf('vulkan', { pool: 'card' }))).toBe('card');
  expect(poolOf(currentOf(null, { pool: 'card' }))).toBe('card');
});

it('GPU readings may not show an engine that has just become ready', () => {
  const ready = currentOf('vulkan', { ...current, pool: 'card', readySince: 1_000 });
  expect([unreportedBytes(ready, 1_001), unreportedBytes(ready, 7_000)]).toEqual([100, 0]);
  const onGraphics = currentOf('vulkan', { ...current, readySince: 1_000 });
  expect([unreportedBytes(onGraphics, 1_001), unreportedBytes(onGraphics, 7_000)]).toEqual([100, 0]);
  expect(unreportedBytes(currentOf('cpu', { ...current, readySince: 1_000 }), 1_001)).toBe(0);
});
