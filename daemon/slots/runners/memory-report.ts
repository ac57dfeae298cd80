import { z } from 'zod';
import type { MemoryReport } from '../engines/run-spec.ts';

/** The part of ComfyUI's `/system_stats` that is read. On a CPU the figures are those of the whole machine. */
const ComfyStats = z.object({
  devices: z.array(z.object({ type: z.string(), torch_vram_total: z.number().nonnegative() })).max(64),
});

function comfyMemory(value: unknown): number | null {
  const stats = ComfyStats.safeParse(value);
  if (!stats.success) return null;
  const cards = stats.data.devices.filter(({ type }) => type !== 'cpu');
  return cards.length === 0 ? null : cards.reduce((sum, { torch_vram_total: bytes }) => sum + bytes, 0);
}

const READERS: Readonly<Record<MemoryReport, (value: unknown) => number | null>> = { comfyui: comfyMemory };

/** Returns the bytes of a card that a server holds, from the body of its probe; null when it does not say. */
export function reportedMemory(report: MemoryReport, body: string): number | null {
  try {
    return READERS[report](JSON.parse(body));
  } catch {
    return null;
  }
}
