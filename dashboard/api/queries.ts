import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';
import type { CallableId, Responses } from './responses.ts';

/** Events bring changes at once; these slow polls are the net under them. */
const POLL_MS = 15_000;

/** Cache key of a route. */
export function keyOf(id: CallableId): QueryKey {
  return [id];
}

function read<Id extends CallableId>(id: Id, pollMs: number | false = POLL_MS) {
  return queryOptions<Responses[Id]>({
    queryKey: keyOf(id),
    queryFn: ({ signal }) => call(id, { signal }),
    refetchInterval: pollMs,
  });
}

export const queries = {
  auth: read('auth.status'),
  status: read('status'),
  slots: read('slots'),
  hardware: read('hardware', 10_000),
  checks: read('health.system'),
  models: read('v1.models'),
  exposure: read('auth.exposure', false),
  sessions: read('auth.sessions', 60_000),
  settings: read('settings', false),
} as const;
