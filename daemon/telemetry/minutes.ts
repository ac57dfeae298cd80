import { requestOutcome } from '../contract/request-outcome.ts';
import type { MinuteRow } from '../contract/system.ts';
import type { FinishedRequest } from './metrics.ts';

/** Number of minutes in memory, the current one included. */
export const MINUTES = 60;
const MINUTE_MS = 60_000;
/** Maximum waits per minute that the median is computed from. */
const SAMPLES = 500;

interface Minute {
  /** Start of the minute, Unix milliseconds. */
  readonly at: number;
  requests: number;
  failed: number;
  refused: number;
  tokens: number;
  /** Milliseconds to the first byte, of the first responses of the minute. */
  readonly waits: number[];
}

/** Load of each minute of the last hour; bounded, in memory only. */
export interface Minutes {
  finished(request: Pick<FinishedRequest, 'status' | 'inBandCode' | 'firstByteS' | 'completionTokens'>): void;
  /**
   * Returns a row for every minute since the start of the gateway, oldest first, idle minutes included; at
   * most `MINUTES`.
   */
  rows(): MinuteRow[];
}

const startOfMinute = (ms: number): number => ms - (ms % MINUTE_MS);

/** Returns the lower median; null for an empty list. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? null;
}

function rowOf(at: number, minute: Minute | undefined): MinuteRow {
  const wait = median(minute?.waits ?? []);
  return {
    at,
    requests: minute?.requests ?? 0,
    failed: minute?.failed ?? 0,
    refused: minute?.refused ?? 0,
    completion_tokens: minute?.tokens ?? 0,
    ttft_ms: wait === null ? null : Math.round(wait * 10) / 10,
  };
}

/**
 * Counts finished requests by minute. `now` is the wall clock. Setting it back drops the minutes ahead of it.
 */
export function createMinutes(now: () => number = Date.now): Minutes {
  const started = startOfMinute(now());
  const minutes = new Map<number, Minute>();
  let latest: Minute | null = null;
  const current = (): Minute => {
    const at = startOfMinute(now());
    if (latest?.at === at) return latest;
    for (const old of minutes.keys()) if (old <= at - MINUTES * MINUTE_MS || old > at) minutes.delete(old);
    const minute = minutes.get(at) ?? { at, requests: 0, failed: 0, refused: 0, tokens: 0, waits: [] };
    minutes.set(at, minute);
    latest = minute;
    return minute;
  };
  return {
    finished({ status, inBandCode, firstByteS, completionTokens }) {
      const minute = current();
      minute.requests += 1;
      const outcome = requestOutcome({ status, error: inBandCode });
      if (outcome === 'failed') minute.failed += 1;
      if (outcome === 'refused') minute.refused += 1;
      minute.tokens += completionTokens ?? 0;
      if (firstByteS !== null && status < 400 && minute.waits.length < SAMPLES)
        minute.waits.push(firstByteS * 1000);
    },
    rows() {
      const last = startOfMinute(now());
      const first = Math.min(last, Math.max(started, last - (MINUTES - 1) * MINUTE_MS));
      const many = (last - first) / MINUTE_MS + 1;
      return Array.from({ length: many }, (_, step) => first + step * MINUTE_MS).map((at) =>
        rowOf(at, minutes.get(at)),
      );
    },
  };
}
