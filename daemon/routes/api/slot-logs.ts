import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { redactSecrets } from '../../lib/text/redact.ts';
import { engineLogFile } from '../../slots/lifecycle/engine-log.ts';
import { tailLog } from '../../slots/lifecycle/log-tail.ts';
import { slotLogName } from '../../slots/lifecycle/slot-log.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { Query } from '../query.ts';
import { StreamDoor } from '../sse-endpoint.ts';
import { namedSlot } from './slots.ts';

const MAX_READERS = 16;
const MOST_LINES = 1_000;

/**
 * `GET /api/slots/{name}/logs?lines=&follow=`: the last lines of what the slot's engines wrote, over their restarts,
 * and then the live ones, each an event `line` with `{"text"}`; of a program that several slots share, what it wrote for
 * any of them. Values of secrets are hidden.
 */
export function slotLogRoutes(deps: RouteDeps) {
  const door = new StreamDoor(deps, MAX_READERS);
  const logs: Handler = async (ctx, call) => {
    const { name } = namedSlot(deps, call);
    const query = new Query(call);
    const lines = query.whole('lines', { min: 0, max: MOST_LINES, absent: 200 });
    const follow = query.flag('follow', true);
    const stream = door.open(ctx, call);
    const gone = new AbortController();
    stream.onClose(() => gone.abort());
    const onLine = (line: string) => {
      const text = redactSecrets(line, deps.settings.secrets());
      stream.send({ event: 'line', data: JSON.stringify({ text }) });
    };
    const config = deps.slots.config(name);
    const log = config === undefined ? name : slotLogName(config);
    const file = engineLogFile(join(deps.settings.folders.state, 'logs'), log);
    // A full disk has none: what memory holds is shown then.
    if (!existsSync(file) && lines > 0) for (const line of deps.slots.lines(name).slice(-lines)) onLine(line);
    await tailLog(file, { lines, follow, signal: gone.signal, onLine });
    stream.end();
  };
  return { 'slot.logs': logs } satisfies Record<string, Handler>;
}
