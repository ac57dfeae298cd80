/** What the store keeps for others, and for how long. */
import type { Settings } from '../settings/settings.ts';
import type { SlotsOptions } from '../slots/slots.ts';
import type { RetentionLimits } from '../store/retention.ts';
import type { Store } from '../store/store.ts';

/** How much of the request log and of usage stays, by the settings of this moment. */
export const retentionLimits = (settings: Pick<Settings, 'value'>): RetentionLimits => ({
  requestRows: settings.value('requestLogRows'),
  requestDays: settings.value('requestLogDays'),
  usageRows: settings.value('usageRows'),
  usageDays: settings.value('usageDays'),
});

const keyValueEntry = (store: Pick<Store, 'keyValue'>, name: string) => ({
  get: () => store.keyValue.get(name),
  set: (text: string) => store.keyValue.set(name, text),
});

/** What slots remember over a restart: which model has which automatic slot, what launches took and how long they loaded. */
export const slotPersistence = (
  store: Pick<Store, 'keyValue'>,
): Pick<SlotsOptions, 'bindingStore' | 'measurementStore'> => ({
  bindingStore: keyValueEntry(store, 'slots.bindings'),
  measurementStore: keyValueEntry(store, 'slots.measures'),
});
