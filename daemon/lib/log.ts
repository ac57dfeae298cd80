import pino from 'pino';
import { redactNamed, redactSecrets } from './text/redact.ts';

export type Log = pino.Logger;

export interface LogOptions {
  level: string;
  /** Returns all secrets that must never be written. Called for each line. */
  secrets?: () => readonly string[];
  /** Receives finished lines. Default: standard output, which drops lines while the pipe is full. */
  write?: (line: string) => void;
  /** Receives every finished line as well, independent of the output. */
  tap?: (line: string) => void;
}

/** Bytes that may wait in a blocked stdout. Lines above it are dropped. */
const MAX_STDOUT_BACKLOG_BYTES = 1 << 20;

/**
 * Returns a writer to standard output that never blocks the program. It drops lines while the reader is slow,
 * and all lines after the reader has closed the pipe (an unhandled EPIPE would be an exception, which is
 * logged, which is an EPIPE …).
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

/** Creates a log of JSON lines on standard output. The last step redacts secrets by name and by value. */
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

/** Returns a log that writes nothing, for work whose outcome is reported in another way. */
export const silentLog = (): Log => createLog({ level: 'silent', write: () => {} });
