import type { SlotView } from '../../slots/slot-view.ts';
import { aliasedSlot } from './names.ts';
import { type DispatchRequest, type Outcome, toSlot } from './resolver.ts';
import { isLoaded, isNpu, type RoutingView } from './routing-view.ts';

/** The value of `x-svc-step` for a request that skipped the dispatcher. */
export const NPU_EMBED = 'npu-embed';

/**
 * A request that resolves to the NPU embed slot skips the generic dispatcher
 * (docs/spec/specification.md#npu-embed): one that names that slot or its model, even if another slot has the
 * same model. Returns null for every other request, and while the slot is in ERROR, so that the dispatcher
 * can find another slot.
 */
export function npuEmbed(request: DispatchRequest, view: RoutingView): Outcome | null {
  if (request.type !== 'embedding') return null;
  const candidates = view.slots.filter((slot) => isNpuEmbed(slot) && isRequested(slot, request, view));
  const slot = candidates.find(isLoaded) ?? candidates[0];
  return slot === undefined
    ? null
    : toSlot(slot, `slot ${slot.name} embeds on the NPU and is requested directly`);
}

const isNpuEmbed = (slot: SlotView): boolean =>
  slot.type === 'embedding' && isNpu(slot) && slot.state !== 'error';

function isRequested(
  slot: SlotView,
  { modelRef: { lane, model } }: DispatchRequest,
  view: RoutingView,
): boolean {
  if (lane !== null) return lane === slot.name;
  return model !== null && (model === slot.model || aliasedSlot(model, view) === slot);
}
