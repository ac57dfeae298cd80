import type { IncomingMessage } from 'node:http';
import { ADMIN_EVENTS, type GatewayEvents } from '../../contract/events.ts';
import type { EventBusEntry } from '../../lib/async/event-bus.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { SseEndpoint } from '../sse-endpoint.ts';

/** Readers at once; a dashboard uses one each. */
const MAX_READERS = 64;
/** Of those, reserved for admins, so that clients cannot lock out the owner's dashboard. */
const RESERVED_FOR_ADMINS = 16;

/** Returns the last event id that a reader reports; null for a new reader. An invalid id counts as very old. */
export function lastEventId(req: Pick<IncomingMessage, 'headers'>): number | null {
  const header = req.headers['last-event-id'];
  if (header === undefined) return null;
  return typeof header === 'string' && /^\d{1,16}$/.test(header) ? Number(header) : 0;
}

/**
 * `GET /api/events`: all bus events as SSE with ids. Admin-only events go to admins only. A reader that
 * reconnects with `Last-Event-ID` gets what it missed, or one `gap` event when that is no longer available;
 * it must reload its data then.
 */
export function eventRoutes(deps: RouteDeps) {
  const endpoint = new SseEndpoint(deps, MAX_READERS, RESERVED_FOR_ADMINS);
  const events: Handler = (ctx) => {
    const stream = endpoint.open(ctx);
    const send = ({ id, name, payload }: EventBusEntry<GatewayEvents>) => {
      if (ADMIN_EVENTS.has(name) && !stream.isAdmin()) return;
      stream.send({ id, event: name, data: JSON.stringify(payload) });
    };
    const lastId = lastEventId(ctx.req);
    const missed = lastId === null ? [] : deps.bus.since(lastId);
    if (missed === null) stream.send({ id: deps.bus.lastId, event: 'gap', data: '{}' });
    else if (missed.length === 0) stream.sendId(deps.bus.lastId);
    for (const entry of missed ?? []) send(entry);
    stream.onClose(deps.bus.subscribe(send));
  };
  return { events } satisfies Record<string, Handler>;
}
