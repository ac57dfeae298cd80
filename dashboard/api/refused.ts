import { notifyManager, type QueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { needsLogin } from './api-error.ts';

/** Whether something that is on the screen now was refused to this browser when it was last asked for. */
export function isRefused(client: QueryClient): boolean {
  const refused = client.getQueryCache().findAll({
    type: 'active',
    predicate: ({ state }) => state.status === 'error' && needsLogin(state.error),
  });
  return refused.length > 0;
}

/** The same, live. */
export function useRefused(client: QueryClient): boolean {
  const subscribe = useCallback(
    (changed: () => void) => client.getQueryCache().subscribe(notifyManager.batchCalls(changed)),
    [client],
  );
  const look = (): boolean => isRefused(client);
  return useSyncExternalStore(subscribe, look, look);
}
