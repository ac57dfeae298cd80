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

/** `GET /api/events`: slot, hardware, model, request, config and auth events as SSE; the last three only for admins. */
export function eventRoutes(deps: RouteDeps) {
  let readers = 0;
  const events: Handler = (ctx, call) => {
    const { req, res } = ctx;
    if (readers >= MAX_READERS) throw new GatewayError('events.too_many', { retryAfterS: 5 });
    ctx.respond = false;
    readers += 1;
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
    });
    res.write('retry: 1000\n: connected\n\n');
    const last = Number(req.headers['last-event-id'] ?? Number.NaN);
    if (Number.isSafeInteger(last)) for (const entry of deps.bus.since(last) ?? []) send(entry);
    const unsubscribe = deps.bus.subscribe(send);
    const keepAlive = setInterval(
      () => (allowed() ? res.write(': keep-alive\n\n') : res.destroy()),
      KEEP_ALIVE_MS,
    );
    res.on('close', () => {
      readers -= 1;
      clearInterval(keepAlive);
      unsubscribe();
    });
  };
  return { events } satisfies Record<string, Handler>;
}
