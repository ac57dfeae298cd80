import type { DevicePatch } from './device-facts.ts';
import type { Tree } from './kernel-tree.ts';

const NODES = 'sys/class/kfd/kfd/topology/nodes';
/** Two compute units have four SIMDs. */
const SMALL_SIMDS = 4;

export interface KfdNode {
  id: string;
  cpuCores: number;
  simds: number;
}

/** Returns the PCI address from the domain and the location number, which combines bus, slot and function. */
export function kfdAddress(domain: number, location: number): string {
  const hex = (value: number, width: number) => value.toString(16).padStart(width, '0');
  return `${hex(domain, 4)}:${hex((location >> 8) & 0xff, 2)}:${hex((location >> 3) & 0x1f, 2)}.${location & 7}`;
}

/** Parses one topology node from its `key value` lines. Null for a node without SIMDs, which is a CPU. */
export function parseKfdNode(properties: string): KfdNode | null {
  const values = new Map(properties.split('\n').map((line) => line.trim().split(/\s+/) as [string, string]));
  const value = (key: string) => Number(values.get(key) ?? 0);
  if (!(value('simd_count') > 0)) return null;
  return {
    id: kfdAddress(value('domain'), value('location_id')),
    cpuCores: value('cpu_cores_count'),
    simds: value('simd_count'),
  };
}

/** Reads the compute topology of AMD GPUs by PCI address. A node shared with CPU cores means integrated. */
export async function readKfd(tree: Tree): Promise<Map<string, DevicePatch>> {
  const patches = new Map<string, DevicePatch>();
  for (const name of (await tree.names(NODES)).slice(0, 128)) {
    const node = parseKfdNode((await tree.text(`${NODES}/${name}/properties`)) ?? '');
    if (node === null) continue;
    patches.set(node.id, {
      ...(node.cpuCores > 0 ? { integrated: true } : {}),
      ...(node.simds <= SMALL_SIMDS ? { small: true } : {}),
    });
  }
  return patches;
}
