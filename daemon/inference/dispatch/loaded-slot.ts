import type { SlotView } from '../../slots/slot-view.ts';
import { aliasedSlot } from './names.ts';
import { type DispatchRequest, pass, type Resolver, toSlot } from './resolver.ts';
import { isLoaded, type RoutingView, slotNamed } from './routing-view.ts';

/**
 * Step 1: a loaded slot that advertises the model id wins, ordered by health
 * (docs/spec/specification.md#dispatch-step-1). With a lane pin only the pinned slot counts or, while that
 * slot is in ERROR, its siblings with the same model.
 */
export const loadedSlot: Resolver = (request, view) => {
  const best = bestLoaded(candidates(request, view), request);
  if (best) return toSlot(best, `slot ${best.name} is ${best.state} with this model`);
  return pass(
    request.modelRef.lane ? 'the requested slot is not loaded' : 'no loaded slot advertises this model',
  );
};

/** Returns the loaded slot of the lowest rank, the first of equals. */
function bestLoaded(slots: readonly SlotView[], request: DispatchRequest): SlotView | null {
  let best: SlotView | null = null;
  let lowest = Number.POSITIVE_INFINITY;
  for (const slot of slots) {
    const slotRank = isLoaded(slot) ? rank(slot, request) : Number.POSITIVE_INFINITY;
    if (slotRank >= lowest) continue;
    best = slot;
    lowest = slotRank;
  }
  return best;
}

function candidates(request: DispatchRequest, view: RoutingView): readonly SlotView[] {
  const { lane, model } = request.modelRef;
  const pinned = slotNamed(view, lane);
  if (pinned && pinned.state !== 'error') return [pinned];
  if (model === null) return [];
  const alias = lane === null ? aliasedSlot(model, view) : undefined;
  return view.slots.filter((slot) => slot.model === model || slot === alias);
}

/** Smaller is better: right type, then ready, under pressure, degraded; then the shorter queue. */
function rank(slot: SlotView, request: DispatchRequest): number {
  const pressed = slot.queued > 0 || slot.active >= slot.parallel;
  const health = slot.degraded !== null ? 2 : pressed ? 1 : 0;
  const mismatch = slot.type === request.type ? 0 : 10;
  return (mismatch + health) * 100_000 + slot.queued * 100 + slot.active;
}
