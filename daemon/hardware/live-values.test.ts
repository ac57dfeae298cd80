import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type DeviceInfo, newDevice } from './device-facts.ts';
import { openTree, type Tree } from './kernel-tree.ts';
import { LiveValues } from './live-values.ts';
import { type FakeMachine, fakeMachine } from './testing/fake-machine.ts';
import type { Tool } from './tools.ts';

const ID = '0000:0b:00.0';
const noTool: Tool = async () => {
  throw new Error('no tool is expected to run');
};

let machine: FakeMachine;
let problems: unknown[];
let card: DeviceInfo;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  machine = fakeMachine('amd-dgpu');
  problems = [];
  const identity = { id: ID, kind: 'gpu', vendor: 'amd', vendorId: 0x1002, deviceId: 1 } as const;
  card = { ...newDevice(identity), driver: 'amdgpu' };
});
afterEach(() => {
  vi.useRealTimers();
  machine.remove();
});

const open = (tree: Tree = openTree(machine.root)) =>
  new LiveValues(
    { tree, tool: noTool, limitMs: 1000 },
    { debug: (problem: unknown) => void problems.push(problem) },
  );

test('are stale 5 s after any read', async () => {
  const live = open();
  vi.advanceTimersByTime(5000);
  expect(live.stale).toBe(true);
  live.markRead([card]);
  vi.advanceTimersByTime(4999);
  expect(live.stale).toBe(false);
  vi.advanceTimersByTime(1);
  expect(live.stale).toBe(true);
  await live.read([card]);
  expect(live.stale).toBe(false);
});

test('are applied to the device, and unreadable values are cleared', async () => {
  const live = open();
  await live.read([card]);
  expect(card).toMatchObject({ memoryUsed: 27856896, busyPercent: 0 });
  const folder = join(machine.root, 'sys/devices/pci0000:00', ID);
  writeFileSync(join(folder, 'mem_info_vram_used'), '1000\n');
  writeFileSync(join(folder, 'gpu_busy_percent'), 'EBUSY\n');
  await live.read([card]);
  expect(card).toMatchObject({ memoryUsed: 1000, busyPercent: null });
  expect(problems).toEqual([]);
});

test('a busy counter becomes a percentage from the second reading on', () => {
  const live = open();
  card.busyCounterUs = 1_000_000;
  live.markRead([card]);
  expect(card.busyPercent).toBeNull();
  vi.advanceTimersByTime(4000);
  card.busyCounterUs = 3_000_000;
  live.markRead([card]);
  expect(card.busyPercent).toBe(50);
});

test('a failure is logged and rejects nothing', async () => {
  const broken = new Proxy({} as Tree, {
    get: () => () => {
      throw new Error('no such tree');
    },
  });
  card.memoryUsed = 5;
  await open(broken).read([card]);
  expect(card.memoryUsed).toBeNull();
  expect(problems).toEqual([{ probe: 'live values', reason: 'no such tree' }]);
});
