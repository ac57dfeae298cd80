import type { Dialect } from '../engines/engine.ts';
import { swappedError } from '../refusals.ts';
import type { EngineRun } from './controller-deps.ts';
import type { Priority } from './queue.ts';

/** The right to send one request to a slot's engine, valid until `release`. */
export interface Lease {
  readonly slot: string;
  /** The model id that clients use. */
  readonly model: string;
  readonly dialect: Dialect;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** The headers that the engine requires: its own key. */
  readonly headers: Record<string, string>;
  readonly state: 'ready';
  /** The backend in use. */
  readonly device: string | null;
  /** Why the slot runs degraded, else null. */
  readonly degraded: string | null;
  /** When its load started and when it was ready, in Unix milliseconds. */
  readonly startedAt: number;
  readonly readyAt: number;
  /** Ends the lease, whatever the outcome of the request. A second call does nothing. */
  release(): void;
  /**
   * Ends the lease once `idle` has settled: the engine still works for a caller who has left. The slot is busy until
   * then and reports the request as abandoned. A call of `release` in between does nothing.
   */
  releaseAfter(idle: Promise<unknown>): void;
}

/** What the slot does at the two ends of a lease. */
export interface LeaseHandlers {
  /** The caller has left, but the engine cannot stop. */
  onAbandon(): void;
  /** Called once. */
  onRelease(wasAbandoned: boolean): void;
}

export interface ReadyOptions {
  /** Aborted when the caller disconnects, which removes the caller from the queue. */
  readonly signal: AbortSignal;
  /** Streaming callers may wait longer for a load. */
  readonly stream: boolean;
  readonly priority?: Priority;
  /** Size of the request body, which counts in a queue of many requests. */
  readonly bytes?: number;
  /**
   * The model id that the caller named; null or absent when the caller named a slot and takes the model it holds.
   */
  readonly modelId?: string | null;
  /**
   * Called once when admission has decided and the request will be served after a wait. Not called for a request
   * that is served immediately.
   */
  readonly onDecided?: () => void;
}

/**
 * Returns the lease if it is for the model that the caller named. Otherwise releases it and throws RedispatchError,
 * so that no caller gets the response of a model that was swapped in while it waited.
 */
export function leaseFor(lease: Lease, { modelId }: Pick<ReadyOptions, 'modelId'>): Lease {
  if ((modelId ?? lease.model) === lease.model) return lease;
  lease.release();
  throw swappedError(lease.slot);
}

/** Creates a lease for a ready engine. */
export function makeLease(
  {
    launch,
    loaded,
    startedAt,
    readySince,
  }: Pick<EngineRun, 'launch' | 'loaded' | 'startedAt' | 'readySince'>,
  degraded: string | null,
  { onAbandon, onRelease }: LeaseHandlers,
): Lease {
  if (loaded === null) throw new Error(`slot ${launch.slot} has no loaded engine to lend`);
  let state: 'held' | 'abandoned' | 'released' = 'held';
  const end = (from: 'held' | 'abandoned') => {
    if (state !== from) return;
    state = 'released';
    onRelease(from === 'abandoned');
  };
  return {
    slot: launch.slot,
    model: launch.modelId,
    dialect: launch.dialect,
    origin: loaded.origin,
    headers: loaded.headers,
    state: 'ready',
    device: loaded.device,
    degraded,
    startedAt,
    readyAt: readySince ?? startedAt,
    release: () => end('held'),
    releaseAfter: (idle) => {
      if (state !== 'held') return;
      state = 'abandoned';
      onAbandon();
      const free = () => end('abandoned');
      idle.then(free, free);
    },
  };
}
