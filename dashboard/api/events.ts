import type { QueryClient } from '@tanstack/react-query';
import type { EventName, GatewayEvents } from '../../daemon/contract/events.ts';
import { needsLogin } from './api-error.ts';
import { send } from './client.ts';
import { keyOf } from './queries.ts';
import type { CallableId, Responses } from './responses.ts';
import { type SseEvent, sseEvents } from './sse.ts';

const WAITS_MS: readonly number[] = [1000, 2000, 5000, 15_000];
/** A stream that says nothing for this long, not even a comment, counts as dead. */
const SILENCE_MS = 60_000;

/** Events are put into the cache together, at most this often. */
const FLUSH_MS = 300;

/** What each event makes stale. */
const STALE: Record<EventName, readonly CallableId[]> = {
  slot: ['status', 'v1.models'],
  slot_removed: ['slots', 'status', 'v1.models'],
  hardware: ['hardware'],
  upstream: ['v1.models'],
  model: ['v1.models', 'slots'],
  request: [],
  image: [],
  config: ['status', 'settings', 'auth.status', 'auth.exposure', 'health.system'],
  auth: ['auth.status', 'status', 'auth.sessions', 'auth.exposure'],
};

/** The list of slots with one of them replaced or added. */
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

/**
 * Takes events and changes the cache for all of them together, at most once per `FLUSH_MS`: a busy gateway tells of
 * every request, and each must not cost a read.
 */
export function collector(client: QueryClient): (event: Pick<SseEvent, 'event' | 'data'>) => void {
  const slots = new Map<string, GatewayEvents['slot']['slot']>();
  const stale = new Set<CallableId>();
  let waiting = false;
  const flush = (): void => {
    waiting = false;
    client.setQueryData<Responses['slots']>(keyOf('slots'), (list) =>
      [...slots.values()].reduce<Responses['slots'] | undefined>(withSlot, list),
    );
    for (const id of stale) void client.invalidateQueries({ queryKey: keyOf(id) }, { cancelRefetch: false });
    slots.clear();
    stale.clear();
  };
  return (event) => {
    if (!Object.hasOwn(STALE, event.event)) return;
    if (event.event === 'slot') {
      const { slot } = JSON.parse(event.data) as GatewayEvents['slot'];
      slots.set(slot.name, slot);
    }
    for (const id of STALE[event.event as EventName]) stale.add(id);
    if (!waiting) setTimeout(flush, FLUSH_MS);
    waiting = true;
  };
}

async function listen(client: QueryClient, signal: AbortSignal): Promise<void> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  heard();
  try {
    const answer = await send('events', { signal: AbortSignal.any([signal, silence.signal]) }, null);
    if (answer.body === null) return;
    const take = collector(client);
    for await (const event of sseEvents(answer.body, heard)) take(event);
  } finally {
    clearTimeout(timer);
  }
}

async function keepListening(client: QueryClient, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    const began = Date.now();
    await listen(client, signal).catch((error: unknown) => {
      if (needsLogin(error)) void client.invalidateQueries({ queryKey: keyOf('auth.status') });
    });
    if (Date.now() - began > SILENCE_MS) tries = 0;
    const wait = WAITS_MS[Math.min(tries, WAITS_MS.length - 1)];
    await new Promise((done) => setTimeout(done, wait));
  }
}

/**
 * Follows the event stream while the page is visible; a hidden page lets go of its connection (browsers share six
 * per address over all pages) and catches up when it is shown again. The answer ends it.
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
      void client.invalidateQueries();
    }
  };
  document.addEventListener('visibilitychange', onVisibility);
  if (!document.hidden) start();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    stop();
  };
}
