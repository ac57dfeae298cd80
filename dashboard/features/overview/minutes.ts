import type { MinuteRow } from '../../../daemon/contract/system.ts';

/** Unix seconds, and the value of the minute that begins there; null where nothing is known. */
export interface MinuteSeries {
  times: number[];
  values: (number | null)[];
}

const HOUR = 60;

/**
 * A value of every minute, for a graph. Minutes before the gateway started are not in it, a minute in which nothing was served
 * has no wait: neither is drawn as zero.
 */
export function seriesOf(
  minutes: readonly MinuteRow[],
  value: (row: MinuteRow) => number | null,
): MinuteSeries {
  return { times: minutes.map(({ at }) => at / 1000), values: minutes.map(value) };
}

/** What the hour was like, for those who don't see the graph. */
export function hourWords(minutes: readonly MinuteRow[]): {
  requests: number;
  failed: number;
  most: number;
  /** Lowest and highest wait of a minute in milliseconds; null when nothing was served. */
  wait: { low: number; high: number } | null;
} {
  const sum = (value: (row: MinuteRow) => number): number =>
    minutes.reduce((total, row) => total + value(row), 0);
  const waits = minutes.map(({ ttft_ms }) => ttft_ms).filter((wait) => wait !== null);
  return {
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    most: Math.max(0, ...minutes.map(({ requests }) => requests)),
    wait: waits.length === 0 ? null : { low: Math.min(...waits), high: Math.max(...waits) },
  };
}

/** Upper end of a scale of counts that is halved once: the next even number, or two even digits. */
export function topOf(most: number): number {
  const step = 2 * 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, most))) - 1);
  return Math.max(2, Math.ceil(most / step) * step);
}

/** Whether the whole hour is known, or the gateway is younger than that. */
export const isWhole = (minutes: readonly MinuteRow[]): boolean => minutes.length >= HOUR;
