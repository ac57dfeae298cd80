import { type Query, type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { isLost, toFailureInfo } from '../api/api-error.ts';
import { useConnection } from '../api/connection.ts';
import { showsOutdatedNotice } from '../api/outdated.ts';
import { useSession } from '../api/session.tsx';
import { Button } from './button.tsx';
import { Failure } from './failure.tsx';
import { timeOfDay } from './format.ts';
import css from './loaded.module.css';
import { Skeleton } from './skeleton.tsx';
import { StateShape } from './state-badge.tsx';

/** A notice above outdated data, with its time and the error. */
function OutdatedBar(props: { what: string; at: number; error: unknown; retry: () => void }): ReactElement {
  return (
    <div className={css.bar} data-stale data-tone="attention" role="status">
      <StateShape tone="attention" />
      <p>
        <strong>As of {timeOfDay(props.at)}</strong>: {props.what} could not be refreshed.{' '}
        {toFailureInfo(props.error).message}
      </p>
      <Button variant="quiet" onClick={props.retry}>
        Try again
      </Button>
    </div>
  );
}

/**
 * Renders the data of a query, or a skeleton, or the error. After a failed refresh the previous data stays under a notice;
 * without a connection the notice above the view replaces it. Retry refetches everything on the page that failed.
 */
export function Loaded<T>(props: {
  query: UseQueryResult<T>;
  what: string;
  lines?: number;
  children: (data: T) => ReactNode;
}): ReactElement {
  const { query, what } = props;
  const client = useQueryClient();
  const { up } = useConnection();
  const { sessionState } = useSession();
  const retry = (): void => {
    const failed = { type: 'active', predicate: ({ state }: Query) => state.status === 'error' } as const;
    void client.refetchQueries(failed);
  };
  if (query.data !== undefined) {
    return (
      <>
        {showsOutdatedNotice(query, { up, sessionState }) ? (
          <OutdatedBar what={what} at={query.dataUpdatedAt} error={query.error} retry={retry} />
        ) : null}
        {props.children(query.data)}
      </>
    );
  }
  if (query.isError && !isLost(query.error)) return <Failure error={query.error} retry={retry} />;
  return <Skeleton lines={props.lines ?? 3} what={what} />;
}
