import type { CircuitBreaker, Pass } from './circuit-breaker.ts';

/** The permissions of one call: of the upstream, and of its model. */
export interface CallPass {
  readonly upstream: Pass | null;
  readonly model: Pass | null;
}

/** Why a call is not permitted now. */
export interface Blockage {
  readonly breaker: CircuitBreaker;
  /** The model that is paused; null for the whole upstream. */
  readonly model: string | null;
  readonly waitMs: number;
}
