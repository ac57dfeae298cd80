import type { QueryClient } from '@tanstack/react-query';
import type { StreamEvent } from '../../daemon/contract/event-stream.ts';
import type { EventName, GatewayEvents } from '../../daemon/contract/events.ts';
import type { PullRecord } from '../../daemon/contract/pulls.ts';
import { needsLogin } from './api-error.ts';
import { noteDrawing } from './drawings.ts';
import { followStream } from './follow.ts';
import { refreshAll, throttledInvalidation } from './invalidate.ts';
import { keyOf } from './queries.ts';
import type { CallableId, Responses } from './responses.ts';

/** Throttle interval for cache updates from events. */
const FLUSH_MS = 300;
/** Throttle interval for queries that are expensive or that every request makes stale. */
const BUSY_MS = 1500;

/** Queries that each event invalidates after `FLUSH_MS`. */
const STALE: Record<EventName, readonly CallableId[]> = {
  slot: ['status', 'v1.models'],
  slot_removed: ['slots', 'status', 'v1.models'],
  hardware: ['hardware'],
  upstream: ['v1.models', 'upstreams', 'upstream'],
  model: ['v1.models', 'slots', 'models', 'model.names', 'agent', 'model.catalog', 'setup'],
  pull: ['setup'],
  request: [],
  image: [],
  config: [
    'status',
    'settings',
    'model.names',
    'v1.models',
    'auth.status',
    'auth.exposure',
    'health.system',
    'upstreams',
    'audit',
    'setup',
  ],
  auth: ['auth.status', 'status', 'auth.sessions', 'auth.exposure', 'audit', 'setup'],
};

/** Queries that each event invalidates after `BUSY_MS`: a slot change affects memory, and so which models fit. */
const SLOW_REFRESH: Partial<Record<EventName, readonly CallableId[]>> = {
  slot: ['models', 'model.names', 'agent', 'model.catalog', 'slot.plan'],
  hardware: ['models', 'model.catalog'],
  request: ['requests', 'request', 'usage', 'usage.minutes'],
};

/** Replaces or adds one slot in the list. */
export function withSlot(
  list: Responses['slots'] | undefined,
  slot: GatewayEvents['slot']['slot'],
): Responses['slots'] | undefined {
  if (list === undefined) return undefined;
  const known = list.slots.some((row) => row.name === slot.name);
  return {
    slots: known ? list.slots.map((row) => (row.name === slot.name ? slot : row)) : [...list.slots, slot],
  };
}

/** Replaces one download in the list, or adds it in front. */
export function withPull(
  list: Responses['pulls'] | undefined,
  pull: PullRecord,
): Responses['pulls'] | undefined {
  if (list === undefined) return undefined;
  const known = list.pulls.some(({ id }) => id === pull.id);
  return {
    pulls: known ? list.pulls.map((row) => (row.id === pull.id ? pull : row)) : [pull, ...list.pulls],
  };
}

/**
 * Collects events and updates the cache in batches, at most once per `FLUSH_MS`: a busy gateway emits an event for every
 * request, and each must not cost a fetch.
 */
export function collector(client: QueryClient): (event: Pick<StreamEvent, 'event' | 'data'>) => void {
  const slots = new Map<string, GatewayEvents['slot']['slot']>();
  const pulls = new Map<string, PullRecord>();
  const put = (): void => {
    if (slots.size > 0) {
      client.setQueryData<Responses['slots']>(keyOf('slots'), (list) =>
        [...slots.values()].reduce<Responses['slots'] | undefined>(withSlot, list),
      );
    }
    if (pulls.size > 0) {
      client.setQueryData<Responses['pulls']>(keyOf('pulls'), (list) =>
        [...pulls.values()].reduce<Responses['pulls'] | undefined>(withPull, list),
      );
    }
    slots.clear();
    pulls.clear();
  };
  const scheduleRefresh = throttledInvalidation(client, FLUSH_MS, put);
  const slowRefresh = throttledInvalidation(client, BUSY_MS);
  return (event) => {
    if (!Object.hasOwn(STALE, event.event)) return;
    if (event.event === 'slot') {
      const { slot } = JSON.parse(event.data) as GatewayEvents['slot'];
      slots.set(slot.name, slot);
    }
    if (event.event === 'pull') {
      const { pull } = JSON.parse(event.data) as GatewayEvents['pull'];
      pulls.set(pull.id, pull);
    }
    if (event.event === 'image') noteDrawing(JSON.parse(event.data) as GatewayEvents['image']);
    const name = event.event as EventName;
    if (name !== 'request') scheduleRefresh(STALE[name]);
    const later = SLOW_REFRESH[name];
    if (later !== undefined) slowRefresh(later);
  };
}

async function keepListening(client: QueryClient, signal: AbortSignal): Promise<void> {
  const take = collector(client);
  await followStream(
    {
      id: 'events',
      options: () => ({}),
      onEvent: (event) => {
        // Missed events cannot be replayed: refresh everything on the page.
        if (event.event === 'gap') refreshAll(client, { cancelRefetch: false });
        else take(event);
      },
      onBroken: (error) => {
        if (needsLogin(error)) void client.invalidateQueries({ queryKey: keyOf('auth.status') });
        return true;
      },
    },
    signal,
  );
}

/**
 * Follows the event stream while the page is visible. A hidden page releases its connection, because browsers allow six per
 * host over all tabs, and refreshes when it is shown again. Returns the stop function.
 */
export function followEvents(client: QueryClient): () => void {
  let running: AbortController | null = null;
  const stop = (): void => {
    running?.abort();
    running = null;
  };
  const start = (): void => {
    if (running !== null) return;
    running = new AbortController();
    void keepListening(client, running.signal);
  };
  const onVisibility = (): void => {
    if (document.hidden) stop();
    else {
      start();
      refreshAll(client);
    }
  };
  document.addEventListener('visibilitychange', onVisibility);
  if (!document.hidden) start();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    stop();
  };
}
