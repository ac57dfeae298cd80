import type { EventBusEntry } from '../../lib/async/event-bus.ts';
import { atLeast, LOG_LEVELS, type LogLine } from '../../lib/text/log-lines.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { Query } from '../query.ts';
import { SseEndpoint } from '../sse-endpoint.ts';
import { lastEventId } from './events.ts';

const MAX_READERS = 16;
const MAX_LINES = 1_000;

const newest = <T>(all: readonly T[], max: number): readonly T[] => (max === 0 ? [] : all.slice(-max));

/**
 * `GET /api/logs?level=&lines=&follow=`: the last lines of the gateway log and then the live ones, each an
 * event `log` with the line's JSON, redacted like the log. A reader that reconnects with `Last-Event-ID`
 * continues after it, with a `gap` event when lines were lost.
 */
export function logRoutes(deps: RouteDeps) {
  const endpoint = new SseEndpoint(deps, MAX_READERS);
  const { bus } = deps.logLines;
  const logs: Handler = (ctx) => {
    const query = new Query(ctx);
    const minLevel = query.word('level', LOG_LEVELS) ?? 'trace';
    const lines = query.whole('lines', { min: 0, max: MAX_LINES, absent: 200 });
    const follow = query.flag('follow', true);
    const stream = endpoint.open(ctx);
    const wanted = ({ payload }: EventBusEntry<{ log: LogLine }>) => atLeast(payload.level, minLevel);
    const send = (entry: EventBusEntry<{ log: LogLine }>) => {
      if (wanted(entry)) stream.send({ id: entry.id, event: 'log', data: entry.payload.text });
    };
    const lastId = lastEventId(ctx.req);
    const missed = lastId === null ? null : bus.since(lastId);
    if (lastId !== null && missed === null) stream.send({ event: 'gap', data: '{}' });
    const recent = missed ?? newest(bus.last(MAX_LINES).filter(wanted), lines);
    for (const entry of recent) send(entry);
    if (follow) stream.onClose(bus.subscribe(send));
    else stream.end();
  };
  return { logs } satisfies Record<string, Handler>;
}
