/** What the store keeps for others, and for how long. */
import type { Settings } from '../settings/settings.ts';
import type { SlotsOptions } from '../slots/slots.ts';
import type { Kept } from '../store/retention.ts';
import type { Store } from '../store/store.ts';

/** How much of the request log and of usage stays, by the settings of this moment. */
export const keptBy = (settings: Pick<Settings, 'value'>): Kept => ({
  requestRows: settings.value('requestLogRows'),
  requestDays: settings.value('requestLogDays'),
  usageRows: settings.value('usageRows'),
  usageDays: settings.value('usageDays'),
});

const fact = (store: Pick<Store, 'facts'>, name: string) => ({
  get: () => store.facts.get(name),
  set: (text: string) => store.facts.set(name, text),
});

/** What slots remember over a restart: which model has which automatic slot, what launches took and how long they loaded. */
export const keptBySlots = (
  store: Pick<Store, 'facts'>,
): Pick<SlotsOptions, 'bindingStore' | 'measurementStore'> => ({
  bindingStore: fact(store, 'slots.bindings'),
  measurementStore: fact(store, 'slots.measures'),
});
