import { afterEach, expect, test } from 'vitest';
import type { DeviceRecord, HardwareView } from '../contract/hardware.ts';
import { HardwareResponse } from '../contract/hardware.ts';
import { Bus } from '../kit/bus.ts';
import { createLog } from '../kit/log.ts';
import type { NodeState } from './device-nodes.ts';
import { type Accelerator, EXPECTED } from './expected-machines.ts';
import { type FakeMachine, fakeMachine, MACHINES, type MachineName } from './fake-machine.ts';
import { createHardware, type Hardware, type HardwareOptions } from './hardware.ts';

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
    bus: new Bus(),
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
/** The reason is compared by its first words: enough to name the rule. */
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

test('present but not permitted is not absent', async () => {
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

test('a GPU without a backend for it says which one is missing', async () => {
  const view = await hardwareOf('amd-dgpu', { backends: () => ['cpu'] }).probe();
  expect(accelerators(view)[0]?.unused_reason).toContain('Vulkan backend');
});

test('the control group limits the host and so the unified pool', async () => {
  const limit = { 'proc/self/cgroup': '0::/box/app\n', 'sys/fs/cgroup/box/memory.max': `${8 * GIB}\n` };
  const view = await hardwareOf('amd-strix-halo-npu', {}, limit).probe();
  expect(view.host.memory_total_bytes).toBe(8 * GIB);
  expect(view.pools[0]).toMatchObject({
    total_bytes: 12 * GIB,
    carveout_bytes: 4 * GIB,
    limited_by: 'cgroup',
  });
});
