import { useSyncExternalStore } from 'react';
import { onReturn } from '../api/connection.ts';
import { askServed } from '../api/served.ts';
import { reasonOnce } from '../ui/late/reload.ts';

/** `renewed`: this page was just loaded again for a newer dashboard; `older`: one is served, and this is not it. */
export type Updated = 'no' | 'renewed' | 'older';

const listeners = new Set<() => void>();
let state: Updated = atStart();

function atStart(): Updated {
  try {
    return reasonOnce(sessionStorage, Date.now()) === 'updated' ? 'renewed' : 'no';
  } catch {
    return 'no'; // Storage is switched off, and with it reloads that nobody asked for.
  }
}

function change(next: Updated): void {
  state = next;
  for (const listener of listeners) listener();
}

/** A gateway that was away may have been updated meanwhile. */
onReturn(() => {
  void askServed().then((served) => {
    if (served === 'newer') change('older');
  });
});

/** The reader has seen it. */
export const dismissUpdated = (): void => change('no');

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the dashboard was updated under this page, live. */
export function useUpdated(): Updated {
  return useSyncExternalStore(subscribe, () => state);
}
