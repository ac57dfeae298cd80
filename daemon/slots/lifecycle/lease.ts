import type { Dialect } from '../engines/engine.ts';
import { swappedError } from '../refusals.ts';
import type { EngineRun } from './controller-deps.ts';
import type { Priority } from './queue.ts';

/** The right to send one request to a slot's engine, held until `release`. */
export interface Lease {
  readonly slot: string;
  /** The id of the model, as clients know it. */
  readonly model: string;
  readonly dialect: Dialect;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** What the engine demands of each request: its own key. */
  readonly headers: Record<string, string>;
  readonly state: 'ready';
  /** The backend in use. */
  readonly device: string | null;
  /** Why the slot runs degraded, else null. */
  readonly degraded: string | null;
  /** When its load began and when it was ready, Unix milliseconds. */
  readonly startedAt: number;
  readonly readyAt: number;
  /** The request has ended, however it did. Calling it again does nothing. */
  release(): void;
}

export interface ReadyOptions {
  /** The caller; when it aborts the caller is taken out of the queue. */
  readonly signal: AbortSignal;
  /** Streaming callers wait longer for a load. */
  readonly stream: boolean;
  readonly priority?: Priority;
  /** The model id that the caller named; null or absent for one who named a slot and takes what it holds. */
  readonly modelId?: string | null;
  /** Told once when admission has decided and the request will be served after a wait; never for one served at once. */
  readonly onDecided?: () => void;
}

/**
 * The lease, if it is on the model that the caller named: nobody gets the answer of another one that the slot was given
 * while he waited. Else it is released and AskAgain is thrown.
 */
export function leaseFor(lease: Lease, { modelId }: Pick<ReadyOptions, 'modelId'>): Lease {
  if ((modelId ?? lease.model) === lease.model) return lease;
  lease.release();
  throw swappedError(lease.slot);
}

/** A lease on a ready engine; `released` is called once. */
export function makeLease(
  {
    launch,
    loaded,
    startedAt,
    readySince,
  }: Pick<EngineRun, 'launch' | 'loaded' | 'startedAt' | 'readySince'>,
  degraded: string | null,
  onRelease: () => void,
): Lease {
  if (loaded === null) throw new Error(`slot ${launch.slot} has no loaded engine to lend`);
  let isHeld = true;
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
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      onRelease();
    },
  };
}
