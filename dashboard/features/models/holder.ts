import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';

const LOADED: ReadonlySet<SlotRecord['state']> = new Set(['ready', 'serving']);

/**
 * The slot that answers to a model's id: one that has it loaded, else the one that it is bound to, else any that would load it;
 * undefined when none does.
 */
export function holderOf(
  model: Pick<ModelWithMemory, 'id' | 'binding'>,
  slots: readonly SlotRecord[],
): SlotRecord | undefined {
  const own = slots.filter((slot) => slot.enabled && slot.model === model.id);
  return (
    own.find(({ state }) => LOADED.has(state)) ??
    own.find(({ name }) => model.binding === `slot:${name}`) ??
    own.find(({ state }) => state !== 'offline' && state !== 'error') ??
    own[0]
  );
}

/** Whether a slot answers at once. */
export const isLoaded = (slot: SlotRecord | undefined): boolean =>
  slot !== undefined && LOADED.has(slot.state);
