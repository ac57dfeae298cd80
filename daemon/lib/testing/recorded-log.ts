import { createLog, type Log } from '../log.ts';

/** For tests: a log and the lines it wrote, parsed. */
export function recordedLog(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}
