import type { LogLine, LogTone } from '../../ui/log/use-log.ts';

/** Levels of the log, least severe first. */
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const TONES: Readonly<Record<string, LogTone>> = {
  trace: 'soft',
  debug: 'soft',
  warn: 'attention',
  error: 'failed',
  fatal: 'failed',
};
/** Fields that are not shown. */
const HIDDEN = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'v', 'name']);

function word(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Parses a line of the gateway log: level, message, then other fields as `key=value`. */
export function readGatewayLine(event: { event: string; data: string }): LogLine | null {
  if (event.event !== 'log') return null;
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(event.data) as Record<string, unknown>;
  } catch {
    return { text: event.data, tone: 'plain', at: null };
  }
  const level = word(fields.level ?? 'info');
  const rest = Object.entries(fields)
    .filter(([key]) => !HIDDEN.has(key))
    .map(([key, value]) => `${key}=${word(value)}`);
  const at = typeof fields.time === 'string' ? Date.parse(fields.time) : Number(fields.time ?? Number.NaN);
  return {
    text: [level.toUpperCase().padEnd(5), word(fields.msg ?? ''), ...rest].join(' '),
    tone: TONES[level] ?? 'plain',
    at: Number.isFinite(at) ? at : null,
  };
}
