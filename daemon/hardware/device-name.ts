import type { DeviceInfo, Vendor } from './device-facts.ts';
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

type Source = (
  device: DeviceInfo,
  sources: NameSources,
) => readonly [name: string | null | undefined, by: string];

/** Best source first: the vendor's tool, Vulkan, the machine's PCI list, our own table, the raw ids. */
const SOURCES: readonly Source[] = [
  (device) => [device.name, device.sources.name ?? device.foundBy],
  (device, { vulkan }) => [
    vulkan?.find((one) => one.vendorId === device.vendorId && one.deviceId === device.deviceId)?.name,
    'vulkaninfo',
  ],
  (device, { lspci }) => {
    const name = lspci.get(device.id);
    return [name === undefined ? null : `${MAKERS[device.vendor]} ${name}`, 'lspci'];
  },
  ({ vendorId, deviceId }) => [
    vendorId === null || deviceId === null ? null : KNOWN_DEVICES[deviceKey(vendorId, deviceId)]?.name,
    'known devices',
  ],
  ({ vendor, kind, vendorId, deviceId, foundBy }) => {
    const numbers = vendorId === null || deviceId === null ? '' : ` [${deviceKey(vendorId, deviceId)}]`;
    return [`${MAKERS[vendor]} ${kind.toUpperCase()}${numbers}`, foundBy];
  },
];

/** Returns the display name of a device and the probe that provided it. */
export function deviceName(device: DeviceInfo, sources: NameSources): { name: string; nameBy: string } {
  for (const source of SOURCES) {
    const [name, nameBy] = source(device, sources);
    if (name) return { name, nameBy };
  }
  return { name: device.id, nameBy: device.foundBy };
}
