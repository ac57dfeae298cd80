import type { DevicePatch } from './device-facts.ts';
import { pciAddress } from './pci-scan.ts';
import { asRecord, looseNumber, parseJson, type Tool } from './tools.ts';

const MAX_GPUS = 16;

/** Parses ids and addresses from `xpu-smi discovery -j`. */
export function parseDiscovery(text: string): { index: number; id: string }[] {
  const list = asRecord(parseJson(text)).device_list;
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_GPUS).flatMap((entry) => {
    const { device_id, pci_bdf_address } = asRecord(entry);
    const index = looseNumber(device_id);
    const id = typeof pci_bdf_address === 'string' ? pciAddress(pci_bdf_address) : null;
    return index === null || id === null ? [] : [{ index, id }];
  });
}

/**
 * Parses memory and name from `xpu-smi discovery -d N -j`. A name that is only a number in brackets is
 * dropped.
 */
export function parseDetails(text: string): DevicePatch {
  const details = asRecord(parseJson(text));
  const name = typeof details.device_name === 'string' ? details.device_name.replaceAll('(R)', '') : null;
  const memoryTotal = looseNumber(details.memory_physical_size_byte);
  const memoryFree = looseNumber(details.memory_free_size_byte);
  return {
    name: name === null || /\[0x[0-9a-f]+\]/i.test(name) ? null : name,
    memoryTotal,
    memoryFree,
    memoryUsed: memoryTotal === null || memoryFree === null ? null : Math.max(0, memoryTotal - memoryFree),
    toolAnswered: true,
  };
}

/** Reads the data of Intel's tool about Arc cards by PCI address. Empty when it is not installed. */
export async function readXpuSmi(tool: Tool): Promise<Map<string, DevicePatch>> {
  const patches = new Map<string, DevicePatch>();
  const discovery = await tool('xpu-smi', ['discovery', '-j']);
  if (discovery.code !== 0) return patches;
  for (const { index, id } of parseDiscovery(discovery.stdout)) {
    const details = await tool('xpu-smi', ['discovery', '-d', String(index), '-j']);
    if (details.code === 0) patches.set(id, parseDetails(details.stdout));
  }
  return patches;
}
