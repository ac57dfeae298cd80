import type { Hardware } from './hardware/hardware.ts';

/**
 * Bytes that a load may take on a device: host memory for the CPU; for an accelerator what the roomiest usable one has
 * free, and the host's memory where that is unknown or shared.
 */
export function freeMemory(hardware: Pick<Hardware, 'view' | 'memoryAvailable'>, device: string): number {
  const host = hardware.memoryAvailable();
  if (device === 'cpu') return host;
  const usable = (hardware.view()?.devices ?? []).filter(
    ({ kind, access }) => kind === 'gpu' && access === 'ok',
  );
  const free = usable.flatMap(({ memory_total_bytes: total, memory_used_bytes: used }) =>
    total === null || used === null ? [] : [total - used],
  );
  return free.length === 0 ? host : Math.max(...free);
}
