import type { DeviceFacts, Vendor } from './facts.ts';
import { deviceKey, KNOWN_DEVICES } from './known-devices.ts';
import type { VulkanDevice } from './vulkaninfo.ts';

const MAKERS: Readonly<Record<Vendor, string>> = {
  nvidia: 'NVIDIA',
  amd: 'AMD',
  intel: 'Intel',
  rockchip: 'Rockchip',
};

export interface NameSources {
  vulkan: readonly VulkanDevice[] | null;
  lspci: ReadonlyMap<string, string>;
}

type Source = (device: DeviceFacts, sources: NameSources) => string | null | undefined;

/** Best name first: the vendor's tool, Vulkan, the machine's PCI list, our own table, the bare numbers. */
const SOURCES: readonly Source[] = [
  (device) => device.name,
  (device, { vulkan }) =>
    vulkan?.find((one) => one.vendorId === device.vendorId && one.deviceId === device.deviceId)?.name,
  (device, { lspci }) => {
    const name = lspci.get(device.id);
    return name === undefined ? null : `${MAKERS[device.vendor]} ${name}`;
  },
  ({ vendorId, deviceId }) =>
    vendorId === null || deviceId === null ? null : KNOWN_DEVICES[deviceKey(vendorId, deviceId)]?.name,
  ({ vendor, kind, vendorId, deviceId }) => {
    const numbers = vendorId === null || deviceId === null ? '' : ` [${deviceKey(vendorId, deviceId)}]`;
    return `${MAKERS[vendor]} ${kind.toUpperCase()}${numbers}`;
  },
];

/** The name to show for a device. */
export function deviceName(device: DeviceFacts, sources: NameSources): string {
  for (const source of SOURCES) {
    const name = source(device, sources);
    if (name) return name;
  }
  return device.id;
}
