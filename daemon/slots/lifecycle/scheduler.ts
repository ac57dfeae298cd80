import type { SlotStateName } from '../../contract/slots.ts';

/** What the next step of a slot depends on. */
export interface SlotSnapshot {
  readonly state: SlotStateName;
  /** Requests being served. */
  readonly active: number;
  /** Requests the engine serves at once. */
  readonly parallel: number;
  /** Requests that wait. */
  readonly queued: number;
  /** Somebody who does not wait in the queue wants the slot loaded: an admin, the start, or the back-off. */
  readonly isLoadRequested: boolean;
  /** Its load waits for other slots to leave. */
  readonly isWaiting: boolean;
  /** The gateway stops. */
  readonly isClosed: boolean;
}

export type SlotStep = 'grant' | 'load' | 'withdraw' | 'cancel-load' | 'stop' | 'rest';

/**
 * Returns the next step of a slot (docs/spec/contract.md#queue): whether it waits, loads or releases. Pure. A
 * failed slot never loads from here: its back-off decides (docs/spec/contract.md#slot-failure).
 */
export function nextStep(snapshot: SlotSnapshot): SlotStep {
  const { state, active, parallel, queued, isLoadRequested, isWaiting, isClosed } = snapshot;
  const wanted = !isClosed && (queued > 0 || isLoadRequested);
  switch (state) {
    case 'ready':
    case 'serving':
      return queued > 0 && active < parallel ? 'grant' : 'rest';
    case 'draining':
      return active === 0 ? 'stop' : 'rest';
    case 'offline':
      if (wanted) return 'load';
      return isWaiting ? 'withdraw' : 'rest';
    case 'pulling':
    case 'starting':
    case 'warming':
      return wanted ? 'rest' : 'cancel-load';
    case 'error':
      return isWaiting && !wanted ? 'withdraw' : 'rest';
    case 'stopping':
      return 'rest';
  }
}
