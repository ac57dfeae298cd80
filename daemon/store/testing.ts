import { onTestFinished } from 'vitest';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { connect, type Db } from './connection.ts';
import { migrate } from './migrations.ts';
import { MIGRATIONS } from './schema.ts';
import { WriteHealth } from './write-health.ts';

/** Returns an in-memory database with the current schema, and a clock for its write health. For tests. */
export function memoryDb(): {
  db: Db;
  faults: WriteHealth;
  clock: { ms: number };
  lines: Record<string, unknown>[];
} {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS);
  onTestFinished(() => void db.close());
  const { log, lines } = recordedLog();
  const clock = { ms: 0 };
  return { db, faults: new WriteHealth(log, () => clock.ms), clock, lines };
}

/** Makes every write fail with a real SQLITE_READONLY, or permits writes again. For tests. */
export function forbidWrites(db: Db, forbidden: boolean): void {
  db.pragma(`query_only = ${forbidden ? 'ON' : 'OFF'}`);
}
