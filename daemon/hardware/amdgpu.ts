import type { DevicePatch } from './device-facts.ts';
import { readHwmon } from './hwmon.ts';
import type { Tree } from './kernel-tree.ts';

/** Reads memory, load, power and temperature of an AMD GPU from its driver's files, without a vendor tool. */
export async function readAmdgpu(tree: Tree, id: string): Promise<DevicePatch> {
  const folder = `sys/bus/pci/devices/${id}`;
  const [memoryTotal, memoryUsed, gttTotal, gttUsed, busyPercent, sensors] = await Promise.all([
    tree.number(`${folder}/mem_info_vram_total`),
    tree.number(`${folder}/mem_info_vram_used`),
    tree.number(`${folder}/mem_info_gtt_total`),
    tree.number(`${folder}/mem_info_gtt_used`),
    tree.number(`${folder}/gpu_busy_percent`),
    readHwmon(tree, folder),
  ]);
  const memoryFree =
    memoryTotal === null || memoryUsed === null ? null : Math.max(0, memoryTotal - memoryUsed);
  return { memoryTotal, memoryUsed, memoryFree, gttTotal, gttUsed, busyPercent, ...sensors };
}
