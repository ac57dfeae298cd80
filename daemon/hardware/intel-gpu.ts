import type { DevicePatch } from './device-facts.ts';
import { readHwmon } from './hwmon.ts';
import type { Tree } from './kernel-tree.ts';

/** Reads the memory of an Arc card: per tile under xe, one number under i915 if the kernel provides it. */
async function ownMemory(tree: Tree, folder: string): Promise<number | null> {
  const tiles = (await tree.names(folder)).filter((name) => /^tile\d+$/.test(name));
  const sizes = await Promise.all(
    tiles.map((tile) => tree.number(`${folder}/${tile}/physical_vram_size_bytes`)),
  );
  const known = sizes.filter((size) => size !== null);
  if (known.length > 0) return known.reduce((sum, size) => sum + size, 0);
  for (const card of (await tree.names(`${folder}/drm`)).filter((name) => /^card\d+$/.test(name))) {
    const size = await tree.number(`${folder}/drm/${card}/lmem_total_bytes`);
    if (size !== null) return size;
  }
  return null;
}

/**
 * Reads the values of the xe and i915 drivers. Graphics on bus 0 are part of the processor and use host
 * memory.
 */
export async function readIntelGpu(tree: Tree, id: string): Promise<DevicePatch> {
  const folder = `sys/bus/pci/devices/${id}`;
  const [memoryTotal, sensors] = await Promise.all([ownMemory(tree, folder), readHwmon(tree, folder)]);
  const integrated = memoryTotal === null ? /^[0-9a-f]{4}:00:/.test(id) || null : false;
  return { memoryTotal, integrated, ...sensors };
}
