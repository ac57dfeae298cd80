import type { SlotTypeName } from '../../contract/slots.ts';
import type { Address } from '../dispatch/address.ts';
import { aliasedSlot } from '../dispatch/names.ts';
import type { Picture } from '../dispatch/picture.ts';

/**
 * Deviation 2 (spec "Chat completions deviations"): the name of an enabled LLM slot, or `agent-hermes`, becomes the
 * slot's configured model id, with the slot as lane pin. On the routes of another `type` so does the name of a slot of
 * that type: who names a slot is never answered by the one that the path means, whose vectors or voice are others.
 * A name that is the very id of what the slot holds stays as it is: it names the model, which may be bound elsewhere.
 */
export function slotAlias(address: Address, picture: Picture, type: SlotTypeName): Address {
  if (address.by !== null || address.model === null) return address;
  const slot = aliasedSlot(address.model, picture);
  if (slot === undefined || slot.model === address.model) return address;
  if (slot.type !== 'llm' && slot.type !== type) return address;
  return { ...address, model: slot.model, lane: slot.name, by: 'slot-alias' };
}
