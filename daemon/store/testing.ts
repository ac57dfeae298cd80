import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createLog, type Log } from '../kit/log.ts';
import { connect, type Db } from './connection.ts';
import { Faults } from './faults.ts';
import { migrate } from './migrations.ts';
import { MIGRATIONS } from './schema.ts';

/** For tests: a folder that goes with the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** For tests: a log and the lines it wrote, parsed. */
export function recordedLog(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** For tests: a database in memory with the present schema, and a clock for its faults. */
export function memoryDb(): {
  db: Db;
  faults: Faults;
  clock: { ms: number };
  lines: Record<string, unknown>[];
} {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS);
  onTestFinished(() => void db.close());
  const { log, lines } = recordedLog();
  const clock = { ms: 0 };
  return { db, faults: new Faults(log, () => clock.ms), clock, lines };
}

/** For tests: makes every write fail with a real SQLITE_READONLY, or lets them through again. */
export function forbidWrites(db: Db, forbidden: boolean): void {
  db.pragma(`query_only = ${forbidden ? 'ON' : 'OFF'}`);
}
