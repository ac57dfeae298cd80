import type { SlotStateName } from '../../contract/slots.ts';

/** The input of `nextStep`. */
export interface SlotSnapshot {
  readonly state: SlotStateName;
  /** Number of requests that are being served. */
  readonly active: number;
  /** How many of them have no caller any longer. */
  readonly abandoned: number;
  /** Number of requests that the engine serves at once. */
  readonly parallel: number;
  /** Number of requests that wait. */
  readonly queued: number;
  /** A load was requested outside of the queue: by an admin, at the start of the gateway, or by the back-off. */
  readonly isLoadRequested: boolean;
  /** Its load waits for other slots to end. */
  readonly isWaiting: boolean;
  /** The gateway is stopping. */
  readonly isClosed: boolean;
}

export type SlotStep = 'grant' | 'load' | 'withdraw' | 'cancel-load' | 'stop' | 'rest';

/**
 * Returns the next step of a slot (docs/spec/contract.md#queue): whether it waits, loads or releases. Pure. A
 * failed slot never loads from here: its back-off decides (docs/spec/contract.md#slot-failure).
 */
export function nextStep(snapshot: SlotSnapshot): SlotStep {
  const { state, active, abandoned, parallel, queued, isLoadRequested, isWaiting, isClosed } = snapshot;
  const wanted = !isClosed && (queued > 0 || isLoadRequested);
  switch (state) {
    case 'ready':
    case 'serving':
      return queued > 0 && active < parallel ? 'grant' : 'rest';
    case 'draining':
      return active <= abandoned ? 'stop' : 'rest';
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
