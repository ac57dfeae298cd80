import type { SlotRecord } from '../../../daemon/contract/slots.ts';

/** Maximum number of forecasts: each costs one request. */
const MAX_FORECASTS = 3;

const rank = (slot: SlotRecord): number =>
  (slot.waiting_for.length > 0 ? 0 : 4) + (slot.auto ? 2 : 0) + (slot.name === 'agent' ? 0 : 1);

/**
 * Names of the unloaded slots with a model that may load next. Slots that wait for memory come first, then slots with a
 * slot file, with `agent` before the others.
 */
export function nextLoads(slots: readonly SlotRecord[]): string[] {
  return slots
    .filter(
      ({ enabled, state, model, runner }) =>
        enabled && state === 'offline' && model !== null && runner !== 'attach',
    )
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_FORECASTS)
    .map(({ name }) => name);
}
