import { afterEach, expect, test } from 'vitest';
import type { DeviceRecord, EvidenceRecord, HardwareView } from '../contract/hardware.ts';
import { HardwareResponse } from '../contract/hardware.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { createLog } from '../lib/log.ts';
import type { NodeState } from './device-nodes.ts';
import { createHardware, type Hardware, type HardwareOptions } from './hardware.ts';
import { type Accelerator, EXPECTED } from './testing/expected-machines.ts';
import { type FakeMachine, fakeMachine, MACHINES, type MachineName } from './testing/fake-machine.ts';

const GIB = 1024 ** 3;
const log = createLog({ level: 'error' });
const open: { machine: FakeMachine; hardware: Hardware }[] = [];

afterEach(() => {
  for (const { machine, hardware } of open.splice(0)) {
    hardware.close();
    machine.remove();
  }
});

function hardwareOf(
  name: MachineName,
  options: Partial<HardwareOptions> = {},
  extra?: Record<string, string>,
) {
  const machine = fakeMachine(name, extra);
  const hardware = createHardware({
    log,
    bus: new EventBus(),
    root: machine.root,
    path: machine.path,
    nodeAccess: async () => 'ok',
    backends: () => ['cpu', 'vulkan'],
    ...options,
  });
  open.push({ machine, hardware });
  return hardware;
}

const accelerators = (view: HardwareView) => view.devices.filter(({ kind }) => kind !== 'cpu');
/** Compares the reason by its first words, which identify the rule. */
const short = ({ unused_reason, ...rest }: DeviceRecord): Accelerator => ({
  ...rest,
  unused: unused_reason?.split(/[ :]+/).slice(0, 3).join(' ') ?? null,
});

test.each(MACHINES)('%s: devices, memory, pools and access', async (name) => {
  const view = await hardwareOf(name).probe();
  expect(HardwareResponse.parse(view)).toEqual(view);
  expect(accelerators(view).map(short)).toEqual(EXPECTED[name].devices);
  expect(view.pools).toEqual(EXPECTED[name].pools);
  expect(view.problems.map(({ probe }) => probe)).toEqual(EXPECTED[name].problems);
});

test('distinguishes missing permission from absence', async () => {
  const states: Record<string, NodeState> = {
    '/dev/dri/renderD128': 'denied',
    '/dev/accel/accel0': 'absent',
  };
  const nodeAccess = async (path: string) => states[path] ?? 'ok';
  const view = await hardwareOf('amd-strix-halo-npu', { nodeAccess }).probe();
  expect(accelerators(view).map(({ access }) => access)).toEqual(['no_permission', 'no_permission']);
  expect(accelerators(view)[0]?.unused_reason).toContain('/dev/dri/renderD128');
  expect(accelerators(view)[0]?.unused_reason).toContain('group render');
});

test('names the missing backend of a GPU', async () => {
  const view = await hardwareOf('amd-dgpu', { backends: () => ['cpu'] }).probe();
  expect(accelerators(view)[0]?.unused_reason).toContain('Vulkan backend');
});

test("applies the control group's limit to the host and the unified pool", async () => {
  const limit = { 'proc/self/cgroup': '0::/box/app\n', 'sys/fs/cgroup/box/memory.max': `${8 * GIB}\n` };
  const view = await hardwareOf('amd-strix-halo-npu', {}, limit).probe();
  expect(view.host.memory_total_bytes).toBe(8 * GIB);
  expect(view.pools[0]).toMatchObject({
    total_bytes: 12 * GIB,
    carveout_bytes: 4 * GIB,
    limited_by: 'cgroup',
  });
});

const FACT_NAMES = [
  'driver',
  'memory_total_bytes',
  'memory_used_bytes',
  'busy_percent',
  'power_w',
  'temperature_c',
] as const;

test.each(MACHINES)('%s: each fact names its probe, each gap its reason', async (name) => {
  const view = await hardwareOf(name).probe();
  const evidence = (of: string) => view.evidence.find((each) => each.of === of) as EvidenceRecord;
  expect(evidence('host').facts).toMatchObject({ memory: 'meminfo' });
  for (const device of accelerators(view)) {
    const { facts, unread } = evidence(device.id);
    expect(
      FACT_NAMES.filter((fact) => facts[fact] !== undefined),
      device.id,
    ).toEqual(FACT_NAMES.filter((fact) => device[fact] !== null));
    expect(unread.map(({ fact }) => fact)).toEqual(FACT_NAMES.filter((fact) => device[fact] === null));
    for (const { reason } of unread) expect(reason).toMatch(/^\S.{3,}$/);
  }
  for (const pool of view.pools) {
    const { facts, unread } = evidence(`pool ${pool.id}`);
    expect(facts.total_bytes, pool.id).toMatch(/^[a-z]/);
    expect(unread.length > 0).toBe(pool.available_bytes === null);
  }
});

test('uses kernel probes before and after the vendor tool, and the tool alone where only it provides a fact', async () => {
  const evidenceOf = async (name: MachineName) => (await hardwareOf(name).probe()).evidence;
  const amd = await evidenceOf('amd-dgpu');
  expect(amd.find(({ of }) => of === '0000:0b:00.0')).toMatchObject({
    found_by: 'pci',
    facts: { driver: 'pci', memory_total_bytes: 'amdgpu', busy_percent: 'amdgpu' },
  });
  const nvidia = await evidenceOf('nvidia-dual');
  expect(nvidia.find(({ of }) => of === '0000:21:00.0')).toMatchObject({
    facts: { memory_used_bytes: 'nvidia-smi', name: 'nvidia-smi' },
    unread: [{ fact: 'power_w', reason: 'nvidia-smi does not report it' }],
  });
  const broken = await evidenceOf('nvidia-driver-broken');
  expect(broken.find(({ of }) => of === '0000:01:00.0')?.unread).toContainEqual({
    fact: 'memory_total_bytes',
    reason: expect.stringMatching(/driver/),
  });
  const strixHalo = await evidenceOf('amd-strix-halo-npu');
  expect(strixHalo.find(({ of }) => of === 'pool host')?.facts.total_bytes).toBe('amdgpu');
});

test('a tool that is not installed is the reason for facts that only it provides', async () => {
  const view = await hardwareOf('nvidia-single', { path: '/nonexistent' }).probe();
  const device = view.evidence.find(({ of }) => of === '0000:84:00.0');
  expect(device?.unread).toContainEqual({ fact: 'power_w', reason: 'nvidia-smi is not installed' });
});
