import { readFileSync } from 'node:fs';
import { openFiles } from './open-files.ts';

/** One measurement of the gateway process. */
export interface Sample {
  /** Seconds since the load began. */
  readonly at: number;
  readonly rss_bytes: number;
  readonly fds: number;
  readonly sockets: number;
}

/** Content of `artifacts/soak.json`. */
export interface SoakReport {
  readonly made_at: string;
  readonly node: string;
  readonly seconds: number;
  /** Concurrent callers. */
  readonly callers: number;
  /** Number of requests that ended as expected, by scenario. */
  readonly requests: Readonly<Record<string, number>>;
  readonly churned: number;
  readonly lost: readonly string[];
  /** How often the daemon was found to be another process than at the start. */
  readonly restarts: number;
  /** Open before the load and after it, at rest. */
  readonly fds: { readonly before: number; readonly after: number };
  /** Growth of the memory from the second to the last quarter of the samples, in percent for each hour. */
  readonly rss_drift_percent_per_hour: number;
  readonly samples: readonly Sample[];
}

/** Above this number every other sample is dropped. */
const MAX_SAMPLES = 4_000;

const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

/** Samples a process every `everyMs`. The number of samples is bounded. */
export class ProcessSampler {
  readonly #pid: number;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #samples: Sample[] = [];
  #stride = 1;
  #ticks = 0;

  constructor(pid: number, everyMs: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#tick(), everyMs);
    this.sample();
  }

  sample(): void {
    const { all, sockets } = openFiles(this.#pid);
    const at = Math.round((performance.now() - this.#startedAt) / 10) / 100;
    this.#samples.push({ at, rss_bytes: rssOf(this.#pid), fds: all, sockets });
  }

  stop(): readonly Sample[] {
    clearInterval(this.#timer);
    return this.#samples;
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks % this.#stride !== 0) return;
    this.sample();
    if (this.#samples.length < MAX_SAMPLES) return;
    this.#samples = this.#samples.filter((_, i) => i % 2 === 0);
    this.#stride *= 2;
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Returns the growth of memory from the second to the last quarter, in percent per hour. */
export function drift(samples: readonly Sample[]): number {
  const quarter = Math.floor(samples.length / 4);
  const second = samples.slice(quarter, 2 * quarter);
  const last = samples.slice(3 * quarter);
  const of = (part: readonly Sample[], field: 'rss_bytes' | 'at') => median(part.map((each) => each[field]));
  const hours = (of(last, 'at') - of(second, 'at')) / 3_600;
  if (quarter === 0 || hours <= 0) return 0;
  const growth = of(last, 'rss_bytes') / of(second, 'rss_bytes') - 1;
  return Math.round((growth * 10_000) / hours) / 100;
}

/**
 * Returns the peak memory of the last third of a run divided by the peak before it. Garbage collection makes memory fluctuate, so a
 * slope over an hour is not reliable; a leak exceeds every earlier peak.
 */
export function peakGrowth(samples: readonly Sample[]): number {
  const last = Math.floor((samples.length * 2) / 3);
  const peak = (part: readonly Sample[]) => Math.max(0, ...part.map((each) => each.rss_bytes));
  const before = peak(samples.slice(0, last));
  return before === 0 ? 1 : peak(samples.slice(last)) / before;
}
