import { expect, test, vi } from 'vitest';
import { cardBandwidth } from './card-bandwidth.ts';
import { MemoryBandwidth } from './memory-bandwidth.ts';

function bench(read: () => Promise<number | null>, cores = 4) {
  const values = new Map<string, string>();
  const store = {
    get: (key: string) => values.get(key) ?? null,
    set: (key: string, value: string) => void values.set(key, value),
  };
  const machine = { name: 'cpu 4' };
  const open = () => new MemoryBandwidth({ store, cores, machine: () => machine.name, read });
  return { open, machine, values };
}

test('is measured once, by one reader per core, and stored', async () => {
  const read = vi.fn(async () => 5e9);
  const { open } = bench(read);
  const first = open();
  expect(first.current()).toBeNull();
  await Promise.all([first.ready(), first.ready()]);
  expect([first.current(), open().current()]).toEqual([20e9, 20e9]);
  expect(read).toHaveBeenCalledTimes(4);
});

test('at most 8 readers run at once', async () => {
  const read = vi.fn(async () => 1e9);
  await bench(read, 64).open().ready();
  expect(read).toHaveBeenCalledTimes(8);
});

test('another machine is measured again', async () => {
  const { open, machine } = bench(async () => 1e9, 2);
  await open().ready();
  machine.name = 'cpu 8';
  expect(open().current()).toBeNull();
});

test.each([
  ['a reader that fails', async () => null],
  ['one that cannot start', () => Promise.reject(new Error('no process'))],
])('%s leaves the speed unknown', async (_, read) => {
  const { open } = bench(read);
  const bandwidth = open();
  await bandwidth.ready();
  expect(bandwidth.current()).toBeNull();
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
