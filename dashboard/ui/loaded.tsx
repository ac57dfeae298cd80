import { type Query, type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { isLost, toPicture } from '../api/api-error.ts';
import { useConnection } from '../api/connection.ts';
import { tellsOutdated } from '../api/outdated.ts';
import { useSession } from '../api/session.tsx';
import { Button } from './button.tsx';
import { Failure } from './failure.tsx';
import { timeOfDay } from './format.ts';
import css from './loaded.module.css';
import { Skeleton } from './skeleton.tsx';
import { StateShape } from './state-badge.tsx';

/** Over data that could not be read anew: of when it is, and why. */
function OutdatedBar(props: { what: string; at: number; error: unknown; retry: () => void }): ReactElement {
  return (
    <div className={css.bar} data-stale data-tone="attention" role="status">
      <StateShape tone="attention" />
      <p>
        <strong>As of {timeOfDay(props.at)}</strong>: {props.what} could not be read anew.{' '}
        {toPicture(props.error).message}
      </p>
      <Button look="quiet" onClick={props.retry}>
        Try again
      </Button>
    </div>
  );
}

/**
 * What was read, or a skeleton, or the failure. Once something was read it stays on the screen when a refresh fails,
 * under a bar that says so; without a connection the bar above the view does, and the skeleton waits. Trying again asks
 * for everything on the page that failed.
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
  const { gate } = useSession();
  const retry = (): void => {
    const failed = { type: 'active', predicate: ({ state }: Query) => state.status === 'error' } as const;
    void client.refetchQueries(failed);
  };
  if (query.data !== undefined) {
    return (
      <>
        {tellsOutdated(query, { up, gate }) ? (
          <OutdatedBar what={what} at={query.dataUpdatedAt} error={query.error} retry={retry} />
        ) : null}
        {props.children(query.data)}
      </>
    );
  }
  if (query.isError && !isLost(query.error)) return <Failure error={query.error} retry={retry} />;
  return <Skeleton lines={props.lines ?? 3} what={what} />;
}
