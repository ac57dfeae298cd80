import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useAction } from '../../api/action.ts';
import { type CallOptions, call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import type { Responses } from '../../api/responses.ts';

/** Notes per page. */
export const PAGE = 100;
const POLL_MS = 15_000;

/** All notes, newest first, page by page. */
export function useMemories() {
  return useInfiniteQuery({
    queryKey: keyOf('memory.list'),
    queryFn: ({ signal, pageParam }) => call('memory.list', { query: { offset: String(pageParam) }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.memories.length < PAGE ? null : pages.length * PAGE),
    refetchInterval: POLL_MS,
  });
}

type ActId = 'memory.add' | 'memory.delete.one' | 'memory.delete.many' | 'memory.delete.all';

/** An action on the notes; invalidates the queries that show them. */
export function useNotesAction<Id extends ActId>(id: Id, onDone: (answer: Responses[Id]) => void) {
  const client = useQueryClient();
  return useAction({
    send: (options: CallOptions) => call(id, options),
    onSuccess: () => {
      for (const stale of ['memory.list', 'memory.search'] as const)
        void client.invalidateQueries({ queryKey: keyOf(stale) });
    },
    onDone,
  });
}
