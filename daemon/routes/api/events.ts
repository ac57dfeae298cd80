import { GatewayError } from '../../contract/errors.ts';
import { ADMIN_EVENTS, type GatewayEvents } from '../../contract/events.ts';
import type { BusEntry } from '../../kit/bus.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

const KEEP_ALIVE_MS = 15_000;
/** Bytes that may wait for a slow reader before it is cut; it reconnects with `Last-Event-ID`. */
const MAX_BACKLOG = 1 << 20;
/** Readers at once; a dashboard uses one each. */
const MAX_READERS = 64;

/**
 * `GET /api/events`: slot, hardware, model, request, config and auth events as SSE; the last three only for admins.
 * A stop ends the streams at once: they would never drain.
 */
export function eventRoutes(deps: RouteDeps) {
  /** What ends each open stream. */
  const readers = new Set<() => void>();
  deps.stopping.addEventListener('abort', () => {
    for (const end of [...readers]) end();
  });
  const events: Handler = (ctx, call) => {
    const { req, res } = ctx;
    if (deps.stopping.aborted) throw new GatewayError('slot.draining', { retryAfterS: 5 });
    if (readers.size >= MAX_READERS) throw new GatewayError('events.too_many', { retryAfterS: 5 });
    /** Judged at each event: a session that ended or enforcement that came on stops the stream. */
    const allowed = () =>
      deps.auth.decide(call.route.auth, deps.auth.caller(call.auth), call.auth) === 'pass';
    const seesAdminEvents = () =>
      deps.auth.decide('admin', deps.auth.caller(call.auth), call.auth) === 'pass';
    const send = (entry: BusEntry<GatewayEvents>) => {
      if (!allowed() || res.writableLength > MAX_BACKLOG) return res.destroy();
      if (ADMIN_EVENTS.has(entry.name) && !seesAdminEvents()) return;
      res.write(`id: ${entry.id}\nevent: ${entry.name}\ndata: ${JSON.stringify(entry.payload)}\n\n`);
    };
    res.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      connection: 'close',
    });
    res.write('retry: 1000\n: connected\n\n');
    const last = Number(req.headers['last-event-id'] ?? Number.NaN);
    if (Number.isSafeInteger(last)) for (const entry of deps.bus.since(last) ?? []) send(entry);
    const unsubscribe = deps.bus.subscribe(send);
    const keepAlive = setInterval(
      () => (allowed() ? res.write(': keep-alive\n\n') : res.destroy()),
      KEEP_ALIVE_MS,
    );
    const settle = () => {
      clearInterval(keepAlive);
      unsubscribe();
    };
    const end = () => {
      settle();
      res.end();
    };
    readers.add(end);
    res.on('close', () => {
      readers.delete(end);
      settle();
    });
  };
  return { events } satisfies Record<string, Handler>;
}
