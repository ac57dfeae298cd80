import { expect, test, vi } from 'vitest';
import { cardBandwidth } from './card-bandwidth.ts';
import { MemoryBandwidth, type Reading } from './memory-bandwidth.ts';

const HOUR_MS = 3_600_000;
const idle = (bytesPerSecond: number): Reading => ({ bytesPerSecond, idle: true });
const busy = (bytesPerSecond: number): Reading => ({ bytesPerSecond, idle: false });

function bench(read: () => Promise<Reading | null>, cores = 1) {
  const values = new Map<string, string>();
  const store = {
    get: (key: string) => values.get(key) ?? null,
    set: (key: string, value: string) => void values.set(key, value),
  };
  const machine: { name: string | null } = { name: 'cpu 4' };
  const clock = { ms: Date.parse('2026-11-28T12:00:00Z') };
  const now = () => clock.ms;
  const open = () => new MemoryBandwidth({ store, cores, machine: () => machine.name, read, now });
  return { open, machine, values, clock };
}

test('is measured once on an idle machine, by one reader per core, and stored', async () => {
  const read = vi.fn(async () => idle(5e9));
  const { open } = bench(read, 4);
  const first = open();
  expect(first.current()).toBeNull();
  expect(await Promise.all([first.ready(), first.ready()])).toEqual([true, true]);
  const second = open();
  expect(await second.ready()).toBe(true);
  expect([first.current(), second.current()]).toEqual([20e9, 20e9]);
  expect(read).toHaveBeenCalledTimes(4);
});

test('at most 8 readers run at once', async () => {
  const read = vi.fn(async () => idle(1e9));
  await bench(read, 64).open().ready();
  expect(read).toHaveBeenCalledTimes(8);
});

test('another machine is measured again', async () => {
  const { open, machine } = bench(async () => idle(4e9));
  const bandwidth = open();
  await bandwidth.ready();
  machine.name = 'cpu 8';
  expect(open().current()).toBeNull();
});

test('nothing is measured before the machine is known', async () => {
  const read = vi.fn(async () => idle(4e9));
  const { open, machine } = bench(read);
  machine.name = null;
  const bandwidth = open();
  expect([bandwidth.current(), await bandwidth.ready()]).toEqual([null, false]);
  expect(read).not.toHaveBeenCalled();
  machine.name = 'cpu 4';
  expect([await bandwidth.ready(), bandwidth.current()]).toEqual([true, 4e9]);
});

test('a busy machine is measured again at the next start and after hours, and the highest value counts', async () => {
  const readings = [busy(4e9), busy(5e9), busy(3e9), idle(4.5e9)];
  const read = vi.fn(async () => readings.shift() ?? null);
  const { open, values, clock } = bench(read);
  const after = async (bandwidth: MemoryBandwidth) => {
    await bandwidth.ready();
    return bandwidth.current();
  };
  const first = open();
  expect(await after(first)).toBe(4e9);
  expect(await after(first)).toBe(4e9);
  const second = open();
  expect(await after(second)).toBe(5e9);
  expect(read).toHaveBeenCalledTimes(2);
  clock.ms += 5 * HOUR_MS;
  expect(await after(second)).toBe(5e9);
  // An idle machine is not disturbed, so that its value is final.
  expect(await after(open())).toBe(4.5e9);
  expect(await after(open())).toBe(4.5e9);
  expect(read).toHaveBeenCalledTimes(4);
  expect([...values.values()].map((value) => JSON.parse(value))).toEqual([
    {
      machine: 'cpu 4',
      bytes_per_second: 4.5e9,
      measured_at: '2026-11-28T17:00:00.000Z',
      load: expect.any(Number),
      idle: true,
    },
  ]);
});

test.each([
  ['a value that no memory has', 1, async () => idle(1e9)],
  ['one reader that was disturbed', 2, async (index: number) => ({ bytesPerSecond: 9e9, idle: index === 0 })],
  ['one reader that failed', 2, async (index: number) => (index === 0 ? idle(9e9) : null)],
] as const)('%s is measured again at the next start', async (_, cores, result) => {
  const read = vi.fn(() => result((read.mock.calls.length - 1) % cores));
  const { open } = bench(read, cores);
  for (const starts of [1, 2, 3]) {
    expect(await open().ready()).toBe(true);
    expect(read).toHaveBeenCalledTimes(starts * cores);
  }
});

test('a value without conditions is measured again', async () => {
  const { open, values } = bench(async () => idle(8e9));
  const bandwidth = open();
  await bandwidth.ready();
  for (const key of values.keys())
    values.set(key, JSON.stringify({ machine: 'cpu 4', bytes_per_second: 4e9 }));
  const next = open();
  expect(next.current()).toBe(4e9);
  await next.ready();
  expect(next.current()).toBe(8e9);
});

test.each([
  ['a reader that fails', async () => null],
  ['one that cannot start', () => Promise.reject(new Error('no process'))],
])('%s leaves the speed unknown for a minute', async (_, failure) => {
  const read = vi.fn<() => Promise<Reading | null>>(failure);
  const { open, clock } = bench(read);
  const bandwidth = open();
  expect([await bandwidth.ready(), await bandwidth.ready()]).toEqual([false, false]);
  expect(bandwidth.current()).toBeNull();
  expect(read).toHaveBeenCalledTimes(1);
  read.mockImplementation(async () => idle(8e9));
  clock.ms += 61_000;
  expect([await bandwidth.ready(), bandwidth.current()]).toEqual([true, 8e9]);
});

test('a real reader measures the memory of this machine', async () => {
  const values = new Map<string, string>();
  const store = {
    get: (key: string) => values.get(key) ?? null,
    set: (k: string, v: string) => void values.set(k, v),
  };
  const bandwidth = new MemoryBandwidth({ store, cores: 1, machine: () => 'this' });
  await bandwidth.ready();
  expect(bandwidth.current()).toBeGreaterThan(2e8);
  expect(bandwidth.current()).toBeLessThan(1e12);
});

test.each([
  ['NVIDIA GeForce RTX 4070 Ti SUPER', 672e9],
  ['NVIDIA GeForce RTX 4070', 504e9],
  ['AMD Radeon RX 7900 XTX', 960e9],
  ['AMD Radeon graphics (Strix Halo)', 256e9],
  ['Some future card', null],
])('card %s', (name, bytes) => {
  expect(cardBandwidth(name)).toBe(bytes);
});
