import type { SlotView } from '../../slots/slot-view.ts';
import { type Ask, type Outcome, pass, type Resolver, toSlot, toUpstream } from './resolver.ts';
import { healthySiblings, isLoaded, modelNamed, type Picture, slotNamed } from './routing-view.ts';

/**
 * Step 2: exact registry lookup (docs/spec/specification.md#dispatch-step-2). The lane pin has precedence
 * over the binding. The binding has precedence over a slot file that names the model, as long as that slot
 * serves this very model, or that upstream exists. A slot in ERROR yields to a healthy sibling with the same
 * model id.
 */
export const registry: Resolver = (ask, picture) => {
  const { lane, model } = ask.address;
  if (lane !== null) return pinned(lane, picture);
  const binding = model === null ? undefined : modelNamed(picture, model)?.binding;
  const upstream = upstreamNamed(picture, binding ?? null);
  if (model !== null && upstream !== undefined)
    return toUpstream(upstream, model, `the model is bound to upstream ${upstream}`);
  const named = slotNamed(picture, binding?.replace(/^slot:/, '') ?? null);
  const slot = named?.model === model && named ? named : configured(ask, picture);
  if (!slot) return pass(binding ? `${binding} does not serve it` : 'the registry does not know this model');
  return orSibling(slot, picture, `the model is bound to slot ${slot.name}`);
};

function pinned(lane: string, picture: Picture): Outcome {
  const slot = slotNamed(picture, lane);
  return slot
    ? orSibling(slot, picture, `slot ${lane} is the one that was meant`)
    : pass(`slot ${lane} is gone`);
}

/** The upstream of a binding, while it is there and enabled. */
function upstreamNamed(picture: Picture, binding: string | null): string | undefined {
  if (!binding?.startsWith('upstream:')) return undefined;
  const wanted = binding.slice('upstream:'.length);
  return picture.upstreams.find(({ name }) => name === wanted)?.name;
}

/** A slot whose file names the model; a slot of the right type and not in ERROR first. */
function configured({ address, type }: Ask, picture: Picture): SlotView | undefined {
  if (address.model === null) return undefined;
  const slots = picture.slots.filter((slot) => slot.model === address.model);
  return slots.find((slot) => slot.type === type && slot.state !== 'error') ?? slots[0];
}

function orSibling(slot: SlotView, picture: Picture, reason: string): Outcome {
  const sibling = slot.state === 'error' ? healthySiblings(picture, slot)[0] : undefined;
  if (!sibling) return toSlot(slot, isLoaded(slot) ? reason : `${reason} (${slot.state})`);
  return toSlot(sibling, `slot ${slot.name} is in ERROR; its sibling ${sibling.name} has the same model`);
}
