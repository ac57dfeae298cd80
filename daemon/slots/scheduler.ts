import type { SlotStateName } from '../contract/slots.ts';

/** What the next step of a slot depends on. */
export interface SlotPicture {
  readonly state: SlotStateName;
  /** Requests being served. */
  readonly active: number;
  /** Requests the engine serves at once. */
  readonly parallel: number;
  /** Requests that wait. */
  readonly queued: number;
  /** Somebody who does not wait in the queue wants the slot loaded: an admin, the start, or the back-off. */
  readonly held: boolean;
  /** The gateway stops. */
  readonly closed: boolean;
}

export type SlotStep = 'grant' | 'load' | 'cut-load' | 'stop' | 'rest';

/**
 * What a slot does next (spec "Slots"): who waits, who loads, who leaves. Pure. A failed slot never loads from here:
 * its back-off decides.
 */
export function nextStep(picture: SlotPicture): SlotStep {
  const { state, active, parallel, queued, held, closed } = picture;
  switch (state) {
    case 'ready':
    case 'serving':
      return queued > 0 && active < parallel ? 'grant' : 'rest';
    case 'draining':
      return active === 0 ? 'stop' : 'rest';
    case 'offline':
      return !closed && (queued > 0 || held) ? 'load' : 'rest';
    case 'pulling':
    case 'starting':
    case 'warming':
      return closed || (queued === 0 && !held) ? 'cut-load' : 'rest';
    case 'stopping':
    case 'error':
      return 'rest';
  }
}
