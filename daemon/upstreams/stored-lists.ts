import type { CountStore } from './daily-quota.ts';
import { readModelList, type UpstreamModel } from './model-list.ts';

/** A list as it outlives the gateway; it counts only for the address that it came from. */
export interface KeptList {
  readonly from: string;
  readonly at: number;
  readonly models: readonly UpstreamModel[];
}

const FACT = 'upstreams.lists';

/** The lists of an earlier run by name; anything that is not as it was written is passed over. */
export function readKeptLists(store: CountStore): Map<string, KeptList> {
  const kept = new Map<string, KeptList>();
  try {
    const all = JSON.parse(store.get(FACT) ?? '{}') as Record<string, KeptList>;
    for (const [name, { from, at, models }] of Object.entries(all)) {
      if (typeof from !== 'string' || !Number.isSafeInteger(at) || readModelList(models) === null) continue;
      kept.set(name, { from, at, models });
    }
  } catch {
    // A fact that is no JSON is as good as none.
  }
  return kept;
}

/** Writes only what is not there yet: questions without a new answer wear no disk. */
export function keepLists(store: CountStore, lists: ReadonlyMap<string, KeptList>): void {
  const text = JSON.stringify(Object.fromEntries(lists));
  if (store.get(FACT) !== text) store.set(FACT, text);
}
