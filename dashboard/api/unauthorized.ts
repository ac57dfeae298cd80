import { notifyManager, type QueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { needsLogin } from './api-error.ts';

/** Whether the last fetch of an active query was refused for lack of a login. */
export function isRefused(client: QueryClient): boolean {
  const refused = client.getQueryCache().findAll({
    type: 'active',
    predicate: ({ state }) => state.status === 'error' && needsLogin(state.error),
  });
  return refused.length > 0;
}

/** Subscribes to `isRefused`. */
export function useRefused(client: QueryClient): boolean {
  const subscribe = useCallback(
    (changed: () => void) => client.getQueryCache().subscribe(notifyManager.batchCalls(changed)),
    [client],
  );
  const read = (): boolean => isRefused(client);
  return useSyncExternalStore(subscribe, read, read);
}
