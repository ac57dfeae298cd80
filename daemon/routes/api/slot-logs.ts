import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { redactSecrets } from '../../lib/text/redact.ts';
import { engineLogFile } from '../../slots/lifecycle/engine-log.ts';
import { tailLog } from '../../slots/lifecycle/log-tail.ts';
import { slotLogName } from '../../slots/lifecycle/slot-log.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { Query } from '../query.ts';
import { SseEndpoint } from '../sse-endpoint.ts';
import { namedSlot } from './slots.ts';

const MAX_READERS = 16;
const MAX_LINES = 1_000;

/**
 * `GET /api/slots/{name}/logs?lines=&follow=`: the last lines of what the slot's engines wrote, over their restarts,
 * and then the live ones, each an event `line` with `{"text"}`; of a program that several slots share, what it wrote for
 * any of them; of an engine that it shares, what it wrote for the slot that loaded it. Values of secrets are hidden.
 */
export function slotLogRoutes(deps: RouteDeps) {
  const endpoint = new SseEndpoint(deps, MAX_READERS);
  const logs: Handler = async (ctx) => {
    const { name, shared_engine: shared } = namedSlot(deps, ctx);
    const query = new Query(ctx);
    const lines = query.whole('lines', { min: 0, max: MAX_LINES, absent: 200 });
    const follow = query.flag('follow', true);
    const stream = endpoint.open(ctx);
    const closed = new AbortController();
    stream.onClose(() => closed.abort());
    const onLine = (line: string) => {
      const text = redactSecrets(line, deps.settings.secrets());
      stream.send({ event: 'line', data: JSON.stringify({ text }) });
    };
    const owner = shared?.slot ?? name;
    const config = deps.slots.config(owner);
    const log = config === undefined ? owner : slotLogName(config);
    const file = engineLogFile(join(deps.settings.folders.state, 'logs'), log);
    // On a full disk there is no file. The lines in memory are shown then.
    if (!existsSync(file) && lines > 0) for (const line of deps.slots.lines(name).slice(-lines)) onLine(line);
    await tailLog(file, { lines, follow, signal: closed.signal, onLine });
    stream.end();
  };
  return { 'slot.logs': logs } satisfies Record<string, Handler>;
}
