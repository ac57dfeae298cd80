import { type DeviceInfo, newDevice, patchDevice, type Vendor } from './device-facts.ts';
import type { Tree } from './kernel-tree.ts';
import { deviceKey, KNOWN_DEVICES, VENDORS } from './known-devices.ts';

const ADDRESS = /^([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$/i;
/** Maximum number of reported accelerators. */
const MAX_DEVICES = 64;
const AMD_NPUS = new Set([0x17f0, 0x1502]);
const AMD_PROCESSORS = 0x1022;

/** Normalises a PCI address for use as a key: four-digit domain, lower case. Null when it is invalid. */
export function pciAddress(text: string): string | null {
  const match = ADDRESS.exec(text.trim());
  if (match === null) return null;
  const [, domain = '', bus, slot, func] = match;
  return `${domain.slice(-4)}:${bus}:${slot}.${func}`.toLowerCase();
}

/** Returns the device kind of a PCI class (24 bits): display adapter or processing accelerator, else null. */
export function deviceKind(
  classCode: number,
  vendor: Vendor,
  vendorId: number,
  deviceId: number,
): 'gpu' | 'npu' | null {
  if (vendorId === AMD_PROCESSORS) return AMD_NPUS.has(deviceId) ? 'npu' : null;
  const base = classCode >> 16;
  if (base === 0x03) return 'gpu';
  if (base === 0x12) return vendor === 'intel' ? 'npu' : 'gpu';
  return null;
}

async function readDevice(tree: Tree, name: string): Promise<DeviceInfo | null> {
  const id = pciAddress(name);
  if (id === null) return null;
  const folder = `sys/bus/pci/devices/${name}`;
  const vendorId = await tree.number(`${folder}/vendor`);
  const vendor = vendorId === null ? undefined : VENDORS[vendorId];
  if (vendorId === null || vendor === undefined) return null;
  const [classCode, deviceId] = await Promise.all([
    tree.number(`${folder}/class`),
    tree.number(`${folder}/device`),
  ]);
  if (classCode === null || deviceId === null) return null;
  const kind = deviceKind(classCode, vendor, vendorId, deviceId);
  if (kind === null) return null;
  const device = newDevice({ id, kind, vendor, vendorId, deviceId });
  const known = KNOWN_DEVICES[deviceKey(vendorId, deviceId)];
  patchDevice(device, { driver: await tree.target(`${folder}/driver`) }, 'pci');
  device.integrated = known?.integrated ?? (kind === 'npu' ? true : null);
  device.small = known?.small ?? false;
  return device;
}

/**
 * Lists every GPU and NPU on the PCI buses, with or without a driver, ordered by address
 * (docs/spec/contract.md#hardware). It is cheap, needs no child process and works for any user.
 */
export async function scanPci(tree: Tree): Promise<DeviceInfo[]> {
  const names = await tree.names('sys/bus/pci/devices');
  const found = await Promise.all(names.map((name) => readDevice(tree, name)));
  return found.filter((device) => device !== null).slice(0, MAX_DEVICES);
}
