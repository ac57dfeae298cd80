import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { connect, enterWal } from './connection.ts';
import { migrate } from './migrations.ts';
import { MIGRATIONS } from './schema.ts';
import { snapshot } from './snapshot.ts';

test('contains rows that are still in the log, and is writable', () => {
  const file = join(scratch(), 'svc.db');
  const db = connect(file);
  enterWal(db);
  migrate(db, MIGRATIONS);
  db.exec("INSERT INTO facts VALUES ('a', '1')");
  const copy = connect(snapshot(file) as Buffer);
  copy.exec("INSERT INTO facts VALUES ('b', '2')");
  expect(copy.prepare('SELECT key FROM facts ORDER BY key').pluck().all()).toEqual(['a', 'b']);
  expect(db.prepare('SELECT count(*) FROM facts').pluck().get()).toBe(1);
  copy.close();
  db.close();
});

test('null for a damaged, an absent or an oversized file', () => {
  const file = join(scratch(), 'svc.db');
  expect(snapshot(file)).toBeNull();
  writeFileSync(file, 'no database');
  expect(snapshot(file)).toBeNull();
  truncateSync(file, 65 * 1024 * 1024);
  expect(snapshot(file)).toBeNull();
});
