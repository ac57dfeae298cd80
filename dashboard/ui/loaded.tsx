import { type Query, type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { isLost } from '../api/api-error.ts';
import { Failure } from './failure.tsx';
import { Skeleton } from './skeleton.tsx';

/**
 * What was read, or a skeleton, or the failure. Once something was read it stays on the screen when a refresh fails;
 * the bar above the view says that it is old. Without a connection the skeleton waits: the bar says why. Trying again
 * asks for everything on the page that failed.
 */
export function Loaded<T>(props: {
  query: UseQueryResult<T>;
  what: string;
  lines?: number;
  children: (data: T) => ReactNode;
}): ReactElement {
  const { query } = props;
  const client = useQueryClient();
  if (query.data !== undefined) return <>{props.children(query.data)}</>;
  if (query.isError && !isLost(query.error)) {
    const failed = { type: 'active', predicate: ({ state }: Query) => state.status === 'error' } as const;
    return <Failure error={query.error} retry={() => void client.refetchQueries(failed)} />;
  }
  return <Skeleton lines={props.lines ?? 3} what={props.what} />;
}
