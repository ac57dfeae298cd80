import type { SlotView } from '../../slots/slot-view.ts';
import { aliasedSlot } from './names.ts';
import { type Ask, pass, type Resolver, toSlot } from './resolver.ts';
import { isLoaded, type Picture, slotNamed } from './routing-view.ts';

/**
 * Step 1: a loaded slot that advertises the model id wins outright, ordered by health
 * (docs/spec/specification.md#dispatch-step-1). With a lane pin only the slot that was meant counts or, while
 * that slot is in ERROR, its siblings with the same model.
 */
export const loadedSlot: Resolver = (ask, picture) => {
  const best = bestLoaded(candidates(ask, picture), ask);
  if (best) return toSlot(best, `slot ${best.name} is ${best.state} with this model`);
  return pass(
    ask.address.lane ? 'the slot that was meant is not loaded' : 'no loaded slot advertises this model',
  );
};

/** The loaded one of the lowest rank; of equals the first. */
function bestLoaded(slots: readonly SlotView[], ask: Ask): SlotView | null {
  let best: SlotView | null = null;
  let lowest = Number.POSITIVE_INFINITY;
  for (const slot of slots) {
    const here = isLoaded(slot) ? rank(slot, ask) : Number.POSITIVE_INFINITY;
    if (here >= lowest) continue;
    best = slot;
    lowest = here;
  }
  return best;
}

function candidates(ask: Ask, picture: Picture): readonly SlotView[] {
  const { lane, model } = ask.address;
  const pinned = slotNamed(picture, lane);
  if (pinned && pinned.state !== 'error') return [pinned];
  if (model === null) return [];
  const alias = lane === null ? aliasedSlot(model, picture) : undefined;
  return picture.slots.filter((slot) => slot.model === model || slot === alias);
}

/** Smaller is better: right type, then ready, under pressure, degraded; then the shorter queue. */
function rank(slot: SlotView, ask: Ask): number {
  const pressed = slot.queued > 0 || slot.active >= slot.parallel;
  const health = slot.degraded !== null ? 2 : pressed ? 1 : 0;
  const mismatch = slot.type === ask.type ? 0 : 10;
  return (mismatch + health) * 100_000 + slot.queued * 100 + slot.active;
}
