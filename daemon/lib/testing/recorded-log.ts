import { createLog, type Log } from '../log.ts';

/** Returns a log and its parsed lines. For tests. */
export function recordedLog(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}
