import type { KeyValueStore } from './daily-quota.ts';
import { readModelList, type UpstreamModel } from './model-list.ts';

/** A list as it outlives the gateway; it counts only for the address that it came from. */
export interface StoredList {
  readonly from: string;
  readonly at: number;
  readonly models: readonly UpstreamModel[];
}

const STORE_KEY = 'upstreams.lists';

/** The lists of an earlier run by name; anything that is not as it was written is passed over. */
export function readStoredLists(store: KeyValueStore): Map<string, StoredList> {
  const stored = new Map<string, StoredList>();
  try {
    const all = JSON.parse(store.get(STORE_KEY) ?? '{}') as Record<string, StoredList>;
    for (const [name, { from, at, models }] of Object.entries(all)) {
      if (typeof from !== 'string' || !Number.isSafeInteger(at) || readModelList(models) === null) continue;
      stored.set(name, { from, at, models });
    }
  } catch {
    // A fact that is no JSON is as good as none.
  }
  return stored;
}

/** Writes only what is not there yet: questions without a new answer wear no disk. */
export function storeLists(store: KeyValueStore, lists: ReadonlyMap<string, StoredList>): void {
  const text = JSON.stringify(Object.fromEntries(lists));
  if (store.get(STORE_KEY) !== text) store.set(STORE_KEY, text);
}
