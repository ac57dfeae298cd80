import type { KeyValueStore } from './daily-quota.ts';
import { readModelList, type UpstreamModel } from './model-list.ts';

/** A persisted list. It is valid only for the address that it came from. */
export interface StoredList {
  readonly from: string;
  readonly at: number;
  readonly models: readonly UpstreamModel[];
}

const STORE_KEY = 'upstreams.lists';

/** Reads the lists of an earlier run by name. Skips invalid ones. */
export function readStoredLists(store: KeyValueStore): Map<string, StoredList> {
  const stored = new Map<string, StoredList>();
  try {
    const all = JSON.parse(store.get(STORE_KEY) ?? '{}') as Record<string, StoredList>;
    for (const [name, { from, at, models }] of Object.entries(all)) {
      if (typeof from !== 'string' || !Number.isSafeInteger(at) || readModelList(models) === null) continue;
      stored.set(name, { from, at, models });
    }
  } catch {
    // Invalid JSON counts as missing.
  }
  return stored;
}

/** Writes only changes, to avoid needless disk writes. */
export function storeLists(store: KeyValueStore, lists: ReadonlyMap<string, StoredList>): void {
  const text = JSON.stringify(Object.fromEntries(lists));
  if (store.get(STORE_KEY) !== text) store.set(STORE_KEY, text);
}
