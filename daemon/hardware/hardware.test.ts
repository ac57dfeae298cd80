import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { createLog } from '../lib/log.ts';
import { createHardware, type Hardware, type HardwareOptions } from './hardware.ts';
import { type FakeMachine, fakeMachine, type MachineName } from './testing/fake-machine.ts';

const log = createLog({ level: 'fatal' });
/** A tool that never answers. */
const HANGING = '#!/bin/sh\nexec /bin/sleep 600\n';
const ends: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const end of ends.splice(0)) end();
});

function start(
  name: MachineName,
  options: Partial<HardwareOptions> = {},
): [FakeMachine, Hardware, EventBus<GatewayEvents>] {
  const machine = fakeMachine(name);
  const bus = new EventBus<GatewayEvents>();
  const hardware = createHardware({
    log,
    bus,
    root: machine.root,
    path: machine.path,
    nodeAccess: async () => 'ok',
    ...options,
  });
  ends.push(hardware.close, machine.remove);
  return [machine, hardware, bus];
}

test('returns null before the first probe and emits an event for a probe', async () => {
  const [, hardware, bus] = start('amd-dgpu');
  const eventNames: string[] = [];
  bus.subscribe(({ name }) => eventNames.push(name));
  expect(hardware.view()).toBeNull();
  const view = await hardware.current();
  expect(hardware.view()).toEqual(view);
  expect(eventNames).toEqual(['hardware']);
});

test('overlapping probes share one run', async () => {
  const [, hardware, bus] = start('no-gpu');
  let probes = 0;
  bus.subscribe(() => {
    probes += 1;
  });
  const [one, two] = await Promise.all([hardware.probe(), hardware.probe()]);
  expect(one).toEqual(two);
  expect(probes).toBe(1);
});

test('a probe of the devices reads no load, network or disks, which the first view does', async () => {
  const [, hardware] = start('no-gpu');
  await hardware.probeDevices();
  expect(hardware.last()).toMatchObject({ host: { swap_total_bytes: null, disks: null, networks: null } });
  await vi.waitUntil(async () => (await hardware.current()).host.disks !== null, 20_000);
});

test('refreshes live values after 5 s and clears those that cannot be read', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [machine, hardware] = start('amd-dgpu');
  const folder = join(machine.root, 'sys/devices/pci0000:00/0000:0b:00.0');
  const gpu = (view: Awaited<ReturnType<Hardware['current']>>) => view.devices[1];
  expect(gpu(await hardware.probe())).toMatchObject({ memory_used_bytes: 27856896, busy_percent: 0 });
  writeFileSync(join(folder, 'mem_info_vram_used'), '1000\n');
  writeFileSync(join(folder, 'gpu_busy_percent'), 'EBUSY\n');
  expect(gpu(await hardware.current())).toMatchObject({ memory_used_bytes: 27856896 });
  vi.advanceTimersByTime(5000);
  expect(gpu(await hardware.current())).toMatchObject({ memory_used_bytes: 1000, busy_percent: null });
});

test('a hanging tool delays only its own result, and the event loop continues', async () => {
  const [machine, hardware] = start('nvidia-single', { limitMs: 700 });
  writeFileSync(join(machine.path, 'nvidia-smi'), HANGING, { mode: 0o755 });
  let maxGapMs = 0;
  let before = performance.now();
  const beat = setInterval(() => {
    maxGapMs = Math.max(maxGapMs, performance.now() - before);
    before = performance.now();
  }, 10);
  const view = await hardware.probe();
  clearInterval(beat);
  expect(view.problems).toContainEqual({ probe: 'nvidia-smi', reason: 'no answer within 0.7 s' });
  expect(view.devices[1]).toMatchObject({ id: '0000:84:00.0', memory_total_bytes: null, pool: null });
  expect(maxGapMs).toBeLessThan(2000);
});

test('is refreshing from the moment the values are stale until the read has ended', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [, hardware] = start('nvidia-single');
  expect(hardware.isRefreshing()).toBe(false);
  const first = hardware.probe();
  expect([hardware.view(), hardware.isRefreshing()]).toEqual([null, true]);
  await first;
  expect([hardware.view() === null, hardware.isRefreshing()]).toEqual([false, false]);
  vi.advanceTimersByTime(5000);
  expect(hardware.isRefreshing(), 'asking starts nothing').toBe(false);
  hardware.view();
  expect(hardware.isRefreshing()).toBe(true);
  await hardware.current();
  expect(hardware.isRefreshing()).toBe(false);
});

test('reads the GPU values again once they are older than a second', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [, hardware] = start('nvidia-single');
  expect(hardware.reread(), 'before the first probe').toBe(false);
  await hardware.probe();
  vi.advanceTimersByTime(999);
  expect(hardware.reread()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(hardware.reread()).toBe(true);
  await vi.waitUntil(() => !hardware.reread(), 5000);
  expect(hardware.isRefreshing()).toBe(false);
});

test('an expected first probe counts as running', async () => {
  const [, hardware] = start('nvidia-single', { expectsProbe: true });
  expect(hardware.isRefreshing()).toBe(true);
  await hardware.probe();
  expect(hardware.isRefreshing()).toBe(false);
});

test('does not wait on a machine without a GPU', async () => {
  const [, hardware] = start('no-gpu', { expectsProbe: true });
  const first = hardware.probe();
  expect(hardware.isRefreshing()).toBe(false);
  await first;
});

test('reads memory at most once per second', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [machine, hardware] = start('no-gpu');
  const file = join(machine.root, 'proc/meminfo');
  expect(hardware.memoryAvailable()).toBe(23099132 * 1024);
  expect(hardware.memoryTotal()).toBe(24684096 * 1024);
  writeFileSync(file, readFileSync(file, 'utf8').replace('23099132', '1024'));
  expect(hardware.memoryAvailable()).toBe(23099132 * 1024);
  vi.advanceTimersByTime(1000);
  expect(hardware.memoryAvailable()).toBe(1024 * 1024);
});

test('reads fresh memory once per turn for all callers', async () => {
  const [machine, hardware] = start('no-gpu');
  const file = join(machine.root, 'proc/meminfo');
  const fresh = () => hardware.memoryAvailable({ fresh: true });
  expect(fresh()).toBe(23099132 * 1024);
  writeFileSync(file, readFileSync(file, 'utf8').replace('23099132', '1024'));
  expect(fresh()).toBe(23099132 * 1024);
  await null;
  expect(fresh()).toBe(1024 * 1024);
});

test('probes this machine without a failure', async () => {
  const hardware = createHardware({ log, bus: new EventBus() });
  ends.push(hardware.close);
  const view = await hardware.probe();
  expect(view.host.cpu).not.toBe('');
  expect(view.host.cores_physical).toBeGreaterThan(0);
  expect(view.host.memory_available_bytes).toBeLessThanOrEqual(view.host.memory_total_bytes);
  expect(view.devices[0]).toMatchObject({ id: 'cpu', access: 'ok' });
});

test('runs slow vendor tools only in a full probe', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [machine, hardware] = start('amd-dgpu');
  await hardware.probe();
  const callRecorder = `#!/bin/sh\necho called >> ${machine.path}/called\n`;
  writeFileSync(join(machine.path, 'amd-smi'), callRecorder, { mode: 0o755 });
  vi.advanceTimersByTime(5000);
  await hardware.current();
  expect(existsSync(join(machine.path, 'called'))).toBe(false);
  await hardware.probe();
  expect(existsSync(join(machine.path, 'called'))).toBe(true);
});

test('includes container engines in the view', async () => {
  const engineInfo = {
    kind: 'podman',
    version: '5.4.2',
    api: '1.41',
    rootless: true,
    runtimes: [],
    cdi: true,
  } as const;
  const containers = { sockets: () => ['/run/x/podman.sock'], query: async () => engineInfo };
  const [, hardware] = start('no-gpu', { containers });
  expect((await hardware.probe()).containers).toEqual([
    {
      kind: 'podman',
      socket: '/run/x/podman.sock',
      access: 'ok',
      version: '5.4.2',
      rootless: true,
      hint: null,
    },
  ]);
});

describe('a machine that differs from the last probe', () => {
  const gpus = (hardware: Hardware) =>
    (hardware.last()?.devices ?? []).filter(({ kind }) => kind === 'gpu').map(({ access }) => access);
  /** Requests values that are stale. */
  const requestStale = async (hardware: Hardware, elapsed = 5000) => {
    vi.advanceTimersByTime(elapsed);
    await hardware.current();
  };

  test('is probed again when its GPU was unplugged', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const [machine, hardware] = start('amd-dgpu');
    await hardware.probe();
    expect(gpus(hardware)).toEqual(['ok']);
    rmSync(join(machine.root, 'sys/bus/pci/devices/0000:0b:00.0'), { recursive: true });
    await requestStale(hardware);
    await vi.waitFor(() => expect(gpus(hardware)).toEqual([]), 5000);
  });

  test('is probed again when its vendor tool was late at first, at most once per minute', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const [machine, hardware, bus] = start('nvidia-single', { limitMs: 3000 });
    let probes = 0;
    bus.subscribe(() => {
      probes += 1;
    });
    const tool = join(machine.path, 'nvidia-smi');
    const answers = readFileSync(tool);
    writeFileSync(tool, HANGING, { mode: 0o755 });
    await hardware.probe();
    expect(gpus(hardware)).toEqual(['ok']);
    await requestStale(hardware);
    await vi.waitFor(() => expect(probes).toBe(2), 15_000);
    writeFileSync(tool, answers, { mode: 0o755 });
    await requestStale(hardware);
    await requestStale(hardware);
    expect([probes, hardware.last()?.devices[1]?.memory_total_bytes]).toEqual([2, null]);
    await requestStale(hardware, 60_000);
    await vi.waitFor(() => expect(probes).toBe(3), 15_000);
    expect(hardware.last()?.devices[1]?.memory_total_bytes).toBeGreaterThan(0);
  });

  test('is not probed again when its driver does not work', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const [, hardware, bus] = start('nvidia-driver-broken');
    await hardware.probe();
    let probes = 0;
    bus.subscribe(() => {
      probes += 1;
    });
    await requestStale(hardware);
    await requestStale(hardware, 60_000);
    expect(probes).toBe(0);
  });
});
