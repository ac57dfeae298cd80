import { kernelNames, kernelText } from './kernel-files.ts';
import { deviceKey, KNOWN_DEVICES, VENDORS } from './known-devices.ts';
import { deviceKind } from './pci-scan.ts';
import { parseNumber } from './tree.ts';

/** Graphics of Intel on the first bus share the memory of the machine. */
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
 * Whether a GPU with memory beside the host's may be in this machine, by what the kernel lists: about a millisecond, no
 * child process. Only a probe tells for certain.
 */
export function hasCardSigns(root: string): boolean {
  // Inside a virtual machine of Windows the PCI bus shows no card.
  if (kernelNames(root, 'dev').includes('dxg')) return true;
  return kernelNames(root, 'sys/bus/pci/devices').some((name) => isCard(root, name));
}
