import type { InvalidateOptions, QueryClient } from '@tanstack/react-query';
import { keyOf } from './queries.ts';
import type { CallableId } from './responses.ts';

/** Queries that only the user refreshes, because they are slow and external. */
const BY_HAND: ReadonlySet<unknown> = new Set<CallableId>(['model.search']);

/** Refreshes everything on the page after a time without updates. */
export function refreshAll(client: QueryClient, options: InvalidateOptions = {}): void {
  void client.invalidateQueries({ predicate: ({ queryKey }) => !BY_HAND.has(queryKey[0]) }, options);
}

/**
 * Throttles invalidation: collects stale queries and invalidates them together, at most once per `everyMs`, after calling
 * `before`. A query that is being fetched waits for the next round: its response may predate the change, and cancelling it
 * repeatedly would starve it on a busy gateway.
 */
export function throttledInvalidation(
  client: QueryClient,
  everyMs: number,
  before: () => void = () => {},
): (ids: readonly CallableId[]) => void {
  const stale = new Set<CallableId>();
  let waiting = false;
  const soon = (): void => {
    if (!waiting) setTimeout(flush, everyMs);
    waiting = true;
  };
  const flush = (): void => {
    waiting = false;
    before();
    for (const id of stale) {
      if (client.isFetching({ queryKey: keyOf(id) }) > 0) continue;
      stale.delete(id);
      void client.invalidateQueries({ queryKey: keyOf(id) });
    }
    if (stale.size > 0) soon();
  };
  return (ids) => {
    for (const id of ids) stale.add(id);
    soon();
  };
}
