import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';

const LOADED: ReadonlySet<SlotRecord['state']> = new Set(['ready', 'serving']);

/**
 * The slot that serves a model id: one that has it loaded, else the bound one, else any that would load it. Returns
 * undefined when there is none.
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

/** Whether a slot is loaded, so that it serves requests immediately. */
export const isLoaded = (slot: SlotRecord | undefined): boolean =>
  slot !== undefined && LOADED.has(slot.state);
