import type { InvalidateOptions, QueryClient } from '@tanstack/react-query';
import { keyOf } from './queries.ts';
import type { CallableId } from './responses.ts';

/** Far away and slow, and asked once by hand: nothing that the gateway tells makes it stale. */
const BY_HAND: ReadonlySet<unknown> = new Set<CallableId>(['model.search']);

/** Reads everything on the page anew, after a time of which nothing is known. */
export function readAllAnew(client: QueryClient, options: InvalidateOptions = {}): void {
  void client.invalidateQueries({ predicate: ({ queryKey }) => !BY_HAND.has(queryKey[0]) }, options);
}

/**
 * Collects what has become stale and reads it again together, at most once per `everyMs`; `before` runs first each time.
 * What is just being read waits for the next turn: its answer may be older than the change, and breaking it off again
 * and again would starve it on a busy gateway.
 */
export function staleReads(
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
