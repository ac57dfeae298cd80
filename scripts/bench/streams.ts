import { setTimeout as sleep } from 'node:timers/promises';
import { LANES } from './gateway-files.ts';
import { memoryMb, spent } from './process-figures.ts';
import { type Figures, rank } from './ratios.ts';
import { oneStream, type StreamLoad } from './sse-stream.ts';
import type { Target } from './targets.ts';

export interface StreamsLoad extends StreamLoad {
  readonly streams: number;
  /** Milliseconds over which the starts of the streams are spread. */
  readonly spreadMs?: number;
}

/** Opens concurrent paced event streams, each on its own connection. */
export async function sseStreams(target: Target, load: StreamsLoad): Promise<Figures> {
  const [firstMs, lateUs]: [number[], number[]] = [[], []];
  let bad = 0;
  const callbacks = {
    first: (ms: number) => void firstMs.push(ms),
    late: (us: number) => void lateUs.push(us),
    broken: () => void bad++,
  };
  const start = async (_: unknown, index: number): Promise<void> => {
    if (load.spreadMs) await sleep((load.spreadMs * index) / load.streams);
    // One slot serves 64 at once.
    await oneStream(target, load, LANES[index % LANES.length] as string, callbacks);
  };
  const idleMb = target.idleMb ?? memoryMb(target.pid, 'VmRSS');
  const all = () => Promise.all(Array.from({ length: load.streams }, start));
  const { cpuUs, peakMb } = await spent(target.pid, all);
  return {
    ttft50_ms: rank(firstMs, 0.5),
    ttft99_ms: rank(firstMs, 0.99),
    late50_us: rank(lateUs, 0.5),
    late99_us: rank(lateUs, 0.99),
    cpu_us_tok: cpuUs / (load.streams * load.tokens),
    peak_mb: peakMb,
    over_idle_mb: peakMb - idleMb,
    bad,
  };
}
