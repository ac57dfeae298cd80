import type { SlotRecord, SlotStateName } from '../../../daemon/contract/slots.ts';
import type { Tone } from '../../ui/tone.ts';

interface StateLabel {
  tone: Tone;
  word: string;
}

const BADGES: Record<SlotStateName, StateLabel> = {
  offline: { tone: 'idle', word: 'Unloaded' },
  pulling: { tone: 'busy', word: 'Downloading' },
  starting: { tone: 'busy', word: 'Starting' },
  warming: { tone: 'busy', word: 'Warming up' },
  ready: { tone: 'ok', word: 'Ready' },
  serving: { tone: 'ok', word: 'Serving' },
  draining: { tone: 'busy', word: 'Draining' },
  stopping: { tone: 'busy', word: 'Stopping' },
  error: { tone: 'failed', word: 'Failed' },
};

type Facts = Pick<SlotRecord, 'state' | 'enabled' | 'degraded' | 'failure'> &
  Partial<Pick<SlotRecord, 'waiting_for' | 'model_missing'>>;

/** Label of the model of a slot, also when it has none. */
export function slotModel({ model, model_missing: missing, demo }: SlotRecord): string {
  if (model !== null) return demo ? `${model} (demo)` : model;
  return missing === undefined ? 'No model' : `${missing} (not found)`;
}

/** Label and tone of the state of a slot. A disabled slot is always idle. */
export function slotBadge(slot: Facts): StateLabel {
  if (!slot.enabled) return { tone: 'idle', word: 'Disabled' };
  if ((slot.waiting_for ?? []).length > 0) return { tone: 'busy', word: 'Waiting for memory' };
  if (slot.state === 'error' && slot.failure?.parked) return { tone: 'failed', word: 'Parked' };
  if (slot.model_missing !== undefined && slot.state === 'offline')
    return { tone: 'attention', word: 'Model not found' };
  const badge = BADGES[slot.state];
  return badge.tone === 'ok' && slot.degraded !== null
    ? { tone: 'attention', word: `${badge.word}, degraded` }
    : badge;
}
