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
  /** Names from systeminformation by PCI address. */
  graphics: ReadonlyMap<string, string>;
}

type Source = (
  device: DeviceInfo,
  sources: NameSources,
) => readonly [name: string | null | undefined, by: string];

/** Best source first: the vendor's tool, Vulkan, the machine's PCI list, our own table, systeminformation. */
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
  (device, { graphics }) => [graphics.get(device.id), 'systeminformation'],
];

/** Returns the best name and its source. Null when no source has one. */
function knownName(device: DeviceInfo, sources: NameSources): { name: string; nameBy: string } | null {
  for (const source of SOURCES) {
    const [name, nameBy] = source(device, sources);
    if (name) return { name, nameBy };
  }
  return null;
}

/** Returns whether a GPU has no name by any other source than systeminformation. */
export const isNameless = (device: DeviceInfo, sources: Omit<NameSources, 'graphics'>): boolean =>
  device.kind === 'gpu' && knownName(device, { ...sources, graphics: new Map() }) === null;

/**
 * Returns the display name of a device and the probe that provided it. Without a known name it is the vendor and the
 * raw ids.
 */
export function deviceName(device: DeviceInfo, sources: NameSources): { name: string; nameBy: string } {
  const { vendor, kind, vendorId, deviceId, foundBy } = device;
  const numbers = vendorId === null || deviceId === null ? '' : ` [${deviceKey(vendorId, deviceId)}]`;
  return (
    knownName(device, sources) ?? {
      name: `${MAKERS[vendor]} ${kind.toUpperCase()}${numbers}`,
      nameBy: foundBy,
    }
  );
}
