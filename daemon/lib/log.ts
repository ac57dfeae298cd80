import pino from 'pino';
import { redactNamed, redactSecrets } from './text/redact.ts';

export type Log = pino.Logger;

export interface LogOptions {
  level: string;
  /** Every secret that must never be written, read anew for each line. */
  secrets?: () => readonly string[];
  /** Where finished lines go; default standard output, dropped while the pipe is full. */
  write?: (line: string) => void;
  /** Sees every finished line too, whatever becomes of the output. */
  tap?: (line: string) => void;
}

/** Lines that wait in a blocked stdout before more are dropped. */
const MAX_STDOUT_BACKLOG_BYTES = 1 << 20;

/**
 * A writer to standard output that never stops the program: lines are dropped while the reader is slow, and from the
 * moment on when it has gone (an unhandled EPIPE would be an exception, which is logged, which is an EPIPE …).
 */
function stdoutWriter(): (line: string) => void {
  let closed = false;
  process.stdout.on('error', () => {
    closed = true;
  });
  return (line) => {
    if (!closed && process.stdout.writableLength < MAX_STDOUT_BACKLOG_BYTES) process.stdout.write(line);
  };
}

/** JSON lines on standard output, redacted by name and by value in the last step. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? stdoutWriter();
  const secrets = options.secrets ?? (() => []);
  const stream = {
    write(line: string) {
      const clean = redactNamed(redactSecrets(line, secrets()));
      write(clean);
      options.tap?.(clean);
    },
  };
  return pino(
    {
      level: options.level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** A log that writes nothing, for work whose outcome is told otherwise. */
export const silentLog = (): Log => createLog({ level: 'silent', write: () => {} });
