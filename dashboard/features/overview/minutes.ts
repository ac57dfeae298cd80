import type { MinuteRow } from '../../../daemon/contract/system.ts';

/** Unix seconds and the value of the minute that starts there, or null when unknown. */
export interface MinuteSeries {
  times: number[];
  values: (number | null)[];
}

const HOUR = 60;

/**
 * One value per minute for a chart. Minutes before the start of the gateway are missing, and a minute without requests has
 * no latency: neither is drawn as zero.
 */
export function seriesOf(
  minutes: readonly MinuteRow[],
  value: (row: MinuteRow) => number | null,
): MinuteSeries {
  return { times: minutes.map(({ at }) => at / 1000), values: minutes.map(value) };
}

/** Summary of the hour for screen readers. */
export function hourSummary(minutes: readonly MinuteRow[]): {
  requests: number;
  failed: number;
  refused: number;
  peak: number;
  /** Lowest and highest latency of a minute in milliseconds, or null without requests. */
  wait: { low: number; high: number } | null;
} {
  const sum = (value: (row: MinuteRow) => number): number =>
    minutes.reduce((total, row) => total + value(row), 0);
  const waits = minutes.map(({ ttft_ms }) => ttft_ms).filter((wait) => wait !== null);
  return {
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    refused: sum(({ refused }) => refused),
    peak: Math.max(0, ...minutes.map(({ requests }) => requests)),
    wait: waits.length === 0 ? null : { low: Math.min(...waits), high: Math.max(...waits) },
  };
}

/** Number of minutes that decide whether requests are failing now. */
const RECENT = 15;

/** Requests and failures of the last 15 minutes. */
export function recentFailures(minutes: readonly MinuteRow[]): { requests: number; failed: number } {
  const { requests, failed } = hourSummary(minutes.slice(-RECENT));
  return { requests, failed };
}

/** Upper end of a count axis with one tick in the middle: rounded up to an even number of at most two digits. */
export function axisMax(peak: number): number {
  const step = 2 * 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, peak))) - 1);
  return Math.max(2, Math.ceil(peak / step) * step);
}

/** Whether data covers the whole hour; false while the gateway is younger than that. */
export const isFullHour = (minutes: readonly MinuteRow[]): boolean => minutes.length >= HOUR;
