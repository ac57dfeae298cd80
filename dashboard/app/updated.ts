import { useSyncExternalStore } from 'react';
import { onReturn } from '../api/connection.ts';
import { fetchServedVersion } from '../api/dashboard-version.ts';
import { takeReloadReason } from '../ui/lazy/reload.ts';

/** `renewed`: this page was just reloaded for a newer dashboard; `older`: the gateway serves a newer one. */
export type Updated = 'no' | 'renewed' | 'older';

const listeners = new Set<() => void>();
let state: Updated = atStart();

function atStart(): Updated {
  try {
    return takeReloadReason(sessionStorage, Date.now()) === 'updated' ? 'renewed' : 'no';
  } catch {
    return 'no'; // Storage is disabled, and automatic reloads with it.
  }
}

function change(next: Updated): void {
  state = next;
  for (const listener of listeners) listener();
}

/** A restarted gateway may serve a newer dashboard. */
onReturn(() => {
  void fetchServedVersion().then((served) => {
    if (served === 'newer') change('older');
  });
});

/** Dismisses the notice. */
export const dismissUpdated = (): void => change('no');

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Subscribes to the update state. */
export function useUpdated(): Updated {
  return useSyncExternalStore(subscribe, () => state);
}
