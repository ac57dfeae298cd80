import { expect, test } from 'vitest';
import { type DeviceInfo, newDevice } from './device-facts.ts';
import { type BackendInfo, unusedReason } from './unused-reason.ts';

const gpu = (vendor: DeviceInfo['vendor'], values: Partial<DeviceInfo> = {}): DeviceInfo => ({
  ...newDevice({ id: '0000:01:00.0', kind: 'gpu', vendor, vendorId: 1, deviceId: 2 }),
  driver: { nvidia: 'nvidia', amd: 'amdgpu', intel: 'xe', rockchip: 'rknpu' }[vendor],
  ...values,
});
const npu = gpu('amd', { kind: 'npu', driver: 'amdxdna' });
const facts = (values: Partial<BackendInfo> = {}): BackendInfo => ({
  backends: ['cpu', 'vulkan'],
  vulkan: null,
  flm: null,
  ...values,
});
const seen = [{ vendorId: 1, deviceId: 2, integrated: false, name: 'x' }];

test.each([
  ['GPU with Vulkan', gpu('amd'), 'ok', facts(), null],
  ['GPU listed by Vulkan', gpu('amd'), 'ok', facts({ vulkan: seen }), null],
  ['GPU not listed by Vulkan', gpu('amd'), 'ok', facts({ vulkan: [] }), /mesa-vulkan-drivers/],
  ['no Vulkan backend', gpu('intel'), 'ok', facts({ backends: ['cpu'] }), /not installed/],
  ['NVIDIA with CUDA', gpu('nvidia'), 'ok', facts({ backends: ['cpu', 'cuda'], vulkan: [] }), null],
  [
    'CUDA does not apply to other vendors',
    gpu('amd'),
    'ok',
    facts({ backends: ['cpu', 'cuda'] }),
    /not installed/,
  ],
  [
    'no driver',
    gpu('nvidia', { driver: null }),
    'no_driver',
    facts(),
    /^No driver is loaded: install the NVIDIA/,
  ],
  ['wrong driver', gpu('nvidia', { driver: 'nouveau' }), 'no_driver', facts(), /nouveau can't run models/],
  [
    'driver fails',
    gpu('nvidia', { toolProblem: 'version mismatch' }),
    'no_driver',
    facts(),
    /version mismatch/,
  ],
  ['for a virtual machine', gpu('amd', { driver: 'vfio-pci' }), 'no_driver', facts(), /virtual machine/],
  [
    'not permitted',
    gpu('amd', { nodes: ['/dev/dri/renderD128'] }),
    'no_permission',
    facts(),
    /renderD128.*group render/,
  ],
  ['display graphics', gpu('amd', { small: true }), 'ok', facts(), /two compute units/],
  ['NPU without its backend', npu, 'ok', facts(), /FastFlowLM/],
  [
    'NPU that is not ready',
    npu,
    'ok',
    facts({ flm: { ready: false, problem: 'x is old' } }),
    /says that x is old/,
  ],
  [
    'NPU not listed by its runtime',
    gpu('amd', { kind: 'npu', driver: 'amdxdna', runtimeProblem: 'XRT does not see it' }),
    'ok',
    facts({ flm: { ready: true, problem: null } }),
    /^XRT does not see it\.$/,
  ],
  ['NPU that is ready', npu, 'ok', facts({ flm: { ready: true, problem: null } }), null],
] as const)('%s', (_, device, access, given, expected) => {
  const reason = unusedReason(device, access, given);
  if (expected === null) expect(reason).toBeNull();
  else expect(reason).toMatch(expected);
});
