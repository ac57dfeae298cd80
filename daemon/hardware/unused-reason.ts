import { hasUsableDriver, nodesToCheck } from './access.ts';
import type { Access, DeviceInfo } from './device-facts.ts';
import type { FlmAnswer } from './flm.ts';
import { cudaCommand } from './llama-backends.ts';
import type { VulkanDevice } from './vulkaninfo.ts';

/** The state of the programs that could use a device. */
export interface BackendInfo {
  /** Installed llama.cpp backends, for example `cpu` and `vulkan`. */
  backends: readonly string[];
  /** The devices that Vulkan reports. Null when unknown. */
  vulkan: readonly VulkanDevice[] | null;
  /** The report of the NPU backend. Null when it is not installed. */
  flm: FlmAnswer | null;
}

const SET_ASIDE = 'It is set aside for a virtual machine (driver vfio-pci).';
const TOO_SMALL =
  'Graphics of two compute units would be no faster than the processor, so models stay off it.';
/** Reasons that require no fix. */
export const UNUSED_BY_DESIGN: ReadonlySet<string> = new Set([SET_ASIDE, TOO_SMALL]);

const DRIVER_FIX: Readonly<Record<DeviceInfo['vendor'], string>> = {
  nvidia: 'install the NVIDIA driver (package nvidia-driver on Debian), then restart the machine',
  amd: 'use a kernel whose amdgpu driver supports this GPU, with its firmware (package firmware-amd-graphics on Debian)',
  intel:
    'use a kernel whose xe or i915 driver supports this GPU, with its firmware (package firmware-intel-graphics on Debian)',
  rockchip: 'use a kernel with the rknpu driver',
};
const NPU_DRIVER_FIX: Partial<Record<DeviceInfo['vendor'], string>> = {
  amd: 'use kernel 6.14 or newer, or install the amdxdna driver',
  intel: 'use kernel 6.8 or newer with the intel_vpu driver and its firmware',
};
const VULKAN_DRIVER: Readonly<Record<DeviceInfo['vendor'], string>> = {
  nvidia: 'the NVIDIA driver',
  amd: 'package mesa-vulkan-drivers',
  intel: 'package mesa-vulkan-drivers',
  rockchip: 'package mesa-vulkan-drivers',
};

function noDriver(device: DeviceInfo): string {
  if (device.driver === 'vfio-pci') return SET_ASIDE;
  const fix =
    (device.kind === 'npu' ? NPU_DRIVER_FIX[device.vendor] : undefined) ?? DRIVER_FIX[device.vendor];
  if (hasUsableDriver(device))
    return `Its driver does not respond (${device.toolProblem ?? 'no reason given'}): ${fix}.`;
  const found = device.driver === null ? 'No driver is loaded' : `Driver ${device.driver} can't run models`;
  return `${found}: ${fix}.`;
}

function noPermission(device: DeviceInfo): string {
  const nodes = nodesToCheck(device).join(' and ');
  return `This process may not open ${nodes}: add its user to group render (sudo usermod -aG render USER), or pass the node into the container, then start again.`;
}

function gpuReason(device: DeviceInfo, backends: BackendInfo): string | null {
  if (device.small) return TOO_SMALL;
  if (device.vendor === 'nvidia' && backends.backends.includes('cuda')) return null;
  if (!backends.backends.includes('vulkan')) {
    return 'The Vulkan backend of llama.cpp is not installed: install the optional package of node-llama-cpp for this platform (npm install), then start again.';
  }
  const visible = backends.vulkan?.some(
    (one) => one.vendorId === device.vendorId && one.deviceId === device.deviceId,
  );
  if (visible !== false) return null;
  const cuda = device.vendor === 'nvidia' ? `, or run ${cudaCommand()}` : '';
  return `Vulkan does not see it: install its Vulkan driver (${VULKAN_DRIVER[device.vendor]})${cuda}, then start again.`;
}

function npuReason(device: DeviceInfo, backends: BackendInfo): string | null {
  if (device.vendor !== 'amd') return 'No supported engine runs models on this kind of NPU.';
  if (backends.flm === null) return 'The NPU backend is not installed: install FastFlowLM (command flm).';
  if (backends.flm.problem !== null) return `FastFlowLM reports that ${backends.flm.problem}.`;
  return device.runtimeProblem === null ? null : `${device.runtimeProblem}.`;
}

/** Returns why a device is not used, with the fix. Null when engines can use it. */
export function unusedReason(device: DeviceInfo, access: Access, backends: BackendInfo): string | null {
  if (access === 'no_driver') return noDriver(device);
  if (access === 'no_permission') return noPermission(device);
  return device.kind === 'npu' ? npuReason(device, backends) : gpuReason(device, backends);
}
