import type { SlotRecord } from '../../../daemon/contract/slots.ts';

/** So many loads are foreseen at most: each is a question to the gateway. */
const MOST = 3;

const rank = (slot: SlotRecord): number =>
  (slot.waiting_for.length > 0 ? 0 : 4) + (slot.auto ? 2 : 0) + (slot.name === 'agent' ? 0 : 1);

/**
 * Names of the slots whose load may come next: unloaded ones that have a model, those first that wait for memory, then
 * those with a file of their own, slot `agent` before others.
 */
export function nextLoads(slots: readonly SlotRecord[]): string[] {
  return slots
    .filter(
      ({ enabled, state, model, runner }) =>
        enabled && state === 'offline' && model !== null && runner !== 'attach',
    )
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
    .slice(0, MOST)
    .map(({ name }) => name);
}
