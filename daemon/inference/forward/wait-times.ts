import type { Lease } from '../../slots/lifecycle/lease.ts';

/** Wait times of a request before its turn, in milliseconds (docs/spec/contract.md#route-requests). */
export interface WaitTimes {
  /** Until its load was admitted: for memory and for other models to unload. */
  readonly memory_ms: number;
  /** For the rest of the load. */
  readonly load_ms: number;
  /** For its turn at the loaded model. */
  readonly queue_ms: number;
}

/** The wait times of a request that was served immediately. */
export const NO_WAIT: WaitTimes = { memory_ms: 0, load_ms: 0, queue_ms: 0 };

/** Splits a wait from `requestedAt` to `grantedAt` (Unix milliseconds) by the times of the serving engine. */
export function waitTimesOf(
  requestedAt: number,
  grantedAt: number,
  { startedAt, readyAt }: Pick<Lease, 'startedAt' | 'readyAt'>,
): WaitTimes {
  const started = within(requestedAt, startedAt, grantedAt);
  const ready = within(started, readyAt, grantedAt);
  return {
    memory_ms: started - requestedAt,
    load_ms: ready - started,
    queue_ms: Math.max(0, grantedAt - ready),
  };
}

const within = (least: number, value: number, most: number): number => Math.max(least, Math.min(value, most));
