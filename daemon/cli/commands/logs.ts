import type { CallOptions } from '../client.ts';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { clock } from '../format.ts';
import { plain } from '../output.ts';
import { type StreamEvent, sseEvents } from '../sse-reader.ts';

/** A stream is silent at most between its keep-alive comments. */
const IDLE_TIMEOUT_MS = 60_000;

/** Prints a stream event by event. Reports the end of a stream that should have continued. */
async function follow(
  context: CommandContext,
  route: 'logs' | 'slot.logs' | 'events',
  options: CallOptions,
  line: (event: StreamEvent) => string | null,
): Promise<number> {
  const res = await context.client.open(route, undefined, { ...options, timeoutMs: IDLE_TIMEOUT_MS });
  try {
    for await (const event of sseEvents(res as AsyncIterable<Buffer>)) {
      const text = line(event);
      if (text !== null) context.out(`${text}\n`);
    }
  } catch {
    throw new CliError('the stream was interrupted', EXIT.unreachable);
  }
  if (options.query?.follow === 'false') return EXIT.ok;
  throw new CliError('the stream ended: the gateway is stopping, or access was revoked', EXIT.unreachable);
}

const historyQuery = ({ flags }: CommandContext) => ({
  lines: flags.lines,
  follow: flags.follow ? undefined : 'false',
});

/** Fields that have their own position in the line, or are omitted. */
const HEAD_FIELDS: ReadonlySet<string> = new Set(['level', 'time', 'msg']);

/** A line of the gateway's log for people: time, level, message, then the other fields. */
export function logLine(text: string, now: Date): string {
  let line: Record<string, unknown>;
  try {
    line = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return plain(text);
  }
  const at = typeof line.time === 'string' ? clock(new Date(line.time), now) : '';
  const rest = Object.entries(line)
    .filter(([key]) => !HEAD_FIELDS.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const words = [
    at,
    String(line.level ?? '')
      .toUpperCase()
      .padEnd(5),
    String(line.msg ?? ''),
    ...rest,
  ];
  return plain(words.join(' ')).replaceAll('\n', ' ').trim();
}

export function slotLogs(context: CommandContext, name: string): Promise<number> {
  const { json } = context.flags;
  const options = { params: { name }, query: historyQuery(context) };
  return follow(context, 'slot.logs', options, ({ event, data }) => {
    if (event !== 'line') return null;
    return json ? data : plain((JSON.parse(data) as { text: string }).text);
  });
}

export function logs(context: CommandContext, slot?: string): Promise<number> {
  const { flags } = context;
  if (slot) return slotLogs(context, slot);
  const query = { ...historyQuery(context), level: flags.level };
  return follow(context, 'logs', { query }, ({ event, data }) => {
    if (event === 'gap') return flags.json ? null : '(lines were lost)';
    if (event !== 'log') return null;
    return flags.json ? data : logLine(data, new Date());
  });
}

export const events = (context: CommandContext): Promise<number> =>
  follow(context, 'events', {}, ({ event, data }) =>
    context.flags.json ? `{"event":${JSON.stringify(event)},"data":${data}}` : plain(`${event} ${data}`),
  );
