import type { SlotTypeName } from '../../contract/slots.ts';
import type { ModelRef } from '../dispatch/model-ref.ts';
import { aliasedSlot } from '../dispatch/names.ts';
import type { RoutingView } from '../dispatch/routing-view.ts';

/**
 * Deviation 2: the name of an enabled LLM slot, or `agent-hermes`, becomes the slot's configured model id,
 * with the slot as lane pin (docs/spec/specification.md#deviation-slot-alias). On routes of another `type`
 * the same applies to the name of a slot of that type: a caller who names a slot is never served by the
 * default slot of the path, whose vectors or voice differ. A name that is the id of the slot's own model
 * stays unchanged: it names the model, which may be bound to another slot.
 */
export function slotAlias(address: ModelRef, view: RoutingView, type: SlotTypeName): ModelRef {
  if (address.by !== null || address.model === null) return address;
  const slot = aliasedSlot(address.model, view);
  if (slot === undefined || slot.model === address.model) return address;
  if (slot.type !== 'llm' && slot.type !== type) return address;
  return { ...address, model: slot.model, lane: slot.name, by: 'slot-alias' };
}
