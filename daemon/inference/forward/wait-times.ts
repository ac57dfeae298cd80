import type { Lease } from '../../slots/lifecycle/lease.ts';

/** What a request waited for before its turn, in milliseconds (docs/spec/contract.md#route-requests). */
export interface WaitTimes {
  /** Until its load was let through: for memory, for others to leave. */
  readonly memory_ms: number;
  /** For the part of the load that was still to come. */
  readonly load_ms: number;
  /** For its turn at the loaded model. */
  readonly queue_ms: number;
}

/** Of one who was served at once. */
export const NO_WAIT: WaitTimes = { memory_ms: 0, load_ms: 0, queue_ms: 0 };

/** The parts of a wait from `askedAt` to `grantedAt` (Unix milliseconds), told apart by the times of the engine that serves. */
export function waitTimesOf(
  askedAt: number,
  grantedAt: number,
  { startedAt, readyAt }: Pick<Lease, 'startedAt' | 'readyAt'>,
): WaitTimes {
  const started = within(askedAt, startedAt, grantedAt);
  const ready = within(started, readyAt, grantedAt);
  return { memory_ms: started - askedAt, load_ms: ready - started, queue_ms: Math.max(0, grantedAt - ready) };
}

const within = (least: number, value: number, most: number): number => Math.max(least, Math.min(value, most));
