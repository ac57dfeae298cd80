/** Retention limits of the store, and persistence for the slots. */
import type { Settings } from '../settings/settings.ts';
import type { SlotsOptions } from '../slots/slots.ts';
import type { RetentionLimits } from '../store/retention-limits.ts';
import type { Store } from '../store/store.ts';

/** Returns the current limits of the request log and of usage. */
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

/** Persistence for the slots across restarts: automatic slots by model, measured memory and load times. */
export const slotPersistence = (
  store: Pick<Store, 'keyValue'>,
): Pick<SlotsOptions, 'bindingStore' | 'measurementStore'> => ({
  bindingStore: keyValueEntry(store, 'slots.bindings'),
  measurementStore: keyValueEntry(store, 'slots.measures'),
});
