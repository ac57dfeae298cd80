import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isLost, needsLogin } from './api-error.ts';
import { onReturn } from './connection.ts';
import { refreshAll } from './invalidate.ts';
import { keyOf } from './queries.ts';

/**
 * The query cache of the dashboard. A failed refresh preserves the previous data. An `auth.required` error refreshes the
 * session state. A returning gateway refreshes everything.
 */
export function createQueryClient(): QueryClient {
  const onError = (error: unknown): void => {
    if (needsLogin(error)) void client.invalidateQueries({ queryKey: keyOf('auth.status') });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 2000,
        networkMode: 'always',
        retry: (failures, error) => isLost(error) && failures < 1,
        retryDelay: 500,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
  onReturn(() => refreshAll(client));
  return client;
}
