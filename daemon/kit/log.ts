import pino from 'pino';

export type Log = pino.Logger;

const SECRET_NAMES = /^(authorization|cookie|set-cookie|api[-_]?key|.*(_key|secret|token|password))$/i;
const HIDDEN = '[hidden]';
/** A value shorter than this is not redacted by value: it would blank ordinary words. */
const LEAST_SECRET = 6;

/** Removes every occurrence of `secrets` from `line`, raw and JSON-escaped. Applied last, after rendering. */
export function redactLine(line: string, secrets: readonly string[]): string {
  let out = line;
  for (const secret of secrets) {
    if (secret.length < LEAST_SECRET) continue;
    if (out.includes(secret)) out = out.replaceAll(secret, HIDDEN);
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (escaped !== secret && out.includes(escaped)) out = out.replaceAll(escaped, HIDDEN);
  }
  return out.replace(/([?&]api_key=)[^&\s"#]+/gi, `$1${HIDDEN}`);
}

/** Replaces values under secret-looking names; depth and breadth are bounded by what pino itself serialises. */
function hideByName(fields: Record<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    out[name] = SECRET_NAMES.test(name) && typeof value === 'string' ? HIDDEN : value;
  }
  return out;
}

export interface LogOptions {
  level: string;
  /** Every secret that must never be written, read anew for each line. */
  secrets?: () => readonly string[];
  /** Where finished lines go; default standard output, dropped while the pipe is full. */
  write?: (line: string) => void;
}

/** Lines that wait in a blocked stdout before more are dropped. */
const STDOUT_BACKLOG = 1 << 20;

function writeStdout(line: string): void {
  if (process.stdout.writableLength < STDOUT_BACKLOG) process.stdout.write(line);
}

/** JSON lines on standard output, redacted by name and by value in the last step. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? writeStdout;
  const secrets = options.secrets ?? (() => []);
  const stream = { write: (line: string) => write(redactLine(line, secrets())) };
  return pino(
    {
      level: options.level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: hideByName },
    },
    stream,
  );
}
