import type { SlotView } from '../../slots/slot-view.ts';
import type { ModelRef } from '../dispatch/model-ref.ts';
import { VIRTUAL_CHAINS, VIRTUAL_PREFIX } from '../dispatch/names.ts';
import { noRoute } from '../dispatch/no-route.ts';
import { isNpu, type RoutingView, slotNamed } from '../dispatch/routing-view.ts';

/**
 * Deviation 4: `svc/*` is resolved against the live slot state
 * (docs/spec/specification.md#deviation-virtual-names). The first slot of the chain that exists and is not in
 * ERROR is the lane; the later ones follow when it has no memory (docs/spec/contract.md#alias-chain). Throws
 * `dispatch.no_route` when no slot of the chain exists.
 */
export function virtualName(address: ModelRef, view: RoutingView): ModelRef {
  if (address.by !== null || !address.model?.startsWith(VIRTUAL_PREFIX)) return address;
  const lane = laneOf(address.model, view);
  if (!lane) throw noRoute(address.requested, view);
  const fallbacks = chainOf(address.model, view).filter((slot) => slot !== lane && slot.state !== 'error');
  const chain = fallbacks.map((slot) => slot.name);
  return { ...address, model: lane.model, lane: lane.name, chain, by: 'virtual-name' };
}

/**
 * Returns the slot that a virtual name refers to now: the first of its chain that is not in ERROR, else the
 * first.
 */
export function laneOf(name: string, view: RoutingView): SlotView | undefined {
  const present = chainOf(name, view);
  return present.find((slot) => slot.state !== 'error') ?? present[0];
}

/** Returns the slots of a virtual name in order; only LLM slots have fallbacks. */
function chainOf(name: string, view: RoutingView): SlotView[] {
  const short = name.slice(VIRTUAL_PREFIX.length);
  const chain = Object.hasOwn(VIRTUAL_CHAINS, name) ? (VIRTUAL_CHAINS[name] as readonly string[]) : [short];
  const slots = chain.flatMap((each) => slotNamed(view, each) ?? (each === 'npu' ? npuSlot(view) : []));
  const unique = [...new Set(slots)];
  return unique.length > 1 ? unique.filter((slot) => slot.type === 'llm') : unique;
}

const npuSlot = (view: RoutingView): SlotView[] =>
  view.slots.filter((slot) => slot.type === 'llm' && isNpu(slot)).slice(0, 1);
