import { expect, test } from 'vitest';
import { type DeviceInfo, newDevice } from './device-facts.ts';
import { type BackendInfo, unusedReason } from './unused-reason.ts';

const gpu = (vendor: DeviceInfo['vendor'], values: Partial<DeviceInfo> = {}): DeviceInfo => ({
  ...newDevice({ id: '0000:01:00.0', kind: 'gpu', vendor, vendorId: 1, deviceId: 2 }),
  driver: { nvidia: 'nvidia', amd: 'amdgpu', intel: 'xe', rockchip: 'rknpu' }[vendor],
  ...values,
});
const npu = gpu('amd', { kind: 'npu', driver: 'amdxdna' });
const backendFacts = (values: Partial<BackendInfo> = {}): BackendInfo => ({
  backends: ['cpu', 'vulkan'],
  vulkan: null,
  flm: null,
  ...values,
});
const listed = [{ vendorId: 1, deviceId: 2, integrated: false, name: 'x' }];

test.each([
  ['GPU with Vulkan', gpu('amd'), 'ok', backendFacts(), null],
  ['GPU listed by Vulkan', gpu('amd'), 'ok', backendFacts({ vulkan: listed }), null],
  ['GPU not listed by Vulkan', gpu('amd'), 'ok', backendFacts({ vulkan: [] }), /mesa-vulkan-drivers/],
  ['no Vulkan backend', gpu('intel'), 'ok', backendFacts({ backends: ['cpu'] }), /not installed/],
  ['NVIDIA with CUDA', gpu('nvidia'), 'ok', backendFacts({ backends: ['cpu', 'cuda'], vulkan: [] }), null],
  [
    'CUDA does not apply to other vendors',
    gpu('amd'),
    'ok',
    backendFacts({ backends: ['cpu', 'cuda'] }),
    /not installed/,
  ],
  [
    'no driver',
    gpu('nvidia', { driver: null }),
    'no_driver',
    backendFacts(),
    /^No driver is loaded: install the NVIDIA/,
  ],
  [
    'wrong driver',
    gpu('nvidia', { driver: 'nouveau' }),
    'no_driver',
    backendFacts(),
    /nouveau can't run models/,
  ],
  [
    'driver fails',
    gpu('nvidia', { toolProblem: 'version mismatch' }),
    'no_driver',
    backendFacts(),
    /version mismatch/,
  ],
  [
    'for a virtual machine',
    gpu('amd', { driver: 'vfio-pci' }),
    'no_driver',
    backendFacts(),
    /virtual machine/,
  ],
  [
    'not permitted',
    gpu('amd', { nodes: ['/dev/dri/renderD128'] }),
    'no_permission',
    backendFacts(),
    /renderD128.*group render/,
  ],
  ['display graphics', gpu('amd', { small: true }), 'ok', backendFacts(), /two compute units/],
  ['NPU without its backend', npu, 'ok', backendFacts(), /FastFlowLM/],
  [
    'NPU that is not ready',
    npu,
    'ok',
    backendFacts({ flm: { ready: false, problem: 'x is old' } }),
    /reports that x is old/,
  ],
  [
    'NPU not listed by its runtime',
    gpu('amd', { kind: 'npu', driver: 'amdxdna', runtimeProblem: 'XRT does not see it' }),
    'ok',
    backendFacts({ flm: { ready: true, problem: null } }),
    /^XRT does not see it\.$/,
  ],
  ['NPU that is ready', npu, 'ok', backendFacts({ flm: { ready: true, problem: null } }), null],
] as const)('%s', (_, device, access, backends, expected) => {
  const reason = unusedReason(device, access, backends);
  if (expected === null) expect(reason).toBeNull();
  else expect(reason).toMatch(expected);
});
