import { kernelNames, kernelText } from './kernel-files.ts';
import { parseNumber } from './kernel-tree.ts';
import { deviceKey, KNOWN_DEVICES, VENDORS } from './known-devices.ts';
import { deviceKind } from './pci-scan.ts';

/** Intel graphics on the first bus share the machine's memory. */
const BUILT_IN = /^[0-9a-f]{4}:00:/i;

function isCard(root: string, name: string): boolean {
  const read = (file: string) => parseNumber(kernelText(root, `sys/bus/pci/devices/${name}/${file}`));
  const vendorId = read('vendor');
  const vendor = vendorId === null ? undefined : VENDORS[vendorId];
  if (vendorId === null || vendor === undefined) return false;
  const [classCode, deviceId] = [read('class'), read('device')];
  if (classCode === null || deviceId === null) return false;
  if (deviceKind(classCode, vendor, vendorId, deviceId) !== 'gpu') return false;
  if (vendor === 'intel' && BUILT_IN.test(name)) return false;
  return KNOWN_DEVICES[deviceKey(vendorId, deviceId)]?.small !== true;
}

/**
 * Returns whether a GPU with its own memory may be present, from kernel files: about one millisecond, no
 * child process. Only a probe is certain.
 */
export function hasCardSigns(root: string): boolean {
  // In a Windows virtual machine the PCI bus shows no GPU.
  if (kernelNames(root, 'dev').includes('dxg')) return true;
  return kernelNames(root, 'sys/bus/pci/devices').some((name) => isCard(root, name));
}
