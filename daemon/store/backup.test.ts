import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { createBackup, keepBackup, migratedBackup, restoreBackup, runningBackup } from './backup.ts';
import { connect, enterWal } from './connection.ts';

function rows(file: string): unknown[] {
  const db = connect(file);
  const found = db.prepare('SELECT x FROM t ORDER BY x').pluck().all();
  db.close();
  return found;
}

function filled(): { file: string; db: ReturnType<typeof connect> } {
  const file = join(scratch(), 'x.db');
  const db = connect(file);
  enterWal(db);
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)');
  return { file, db };
}

test('the copy contains rows that are still in the log, readable by its owner only', () => {
  const { file, db } = filled();
  createBackup(db, file);
  expect(rows(runningBackup(file))).toEqual([1]);
  expect(statSync(runningBackup(file)).mode & 0o777).toBe(0o600);
  db.close();
});

test('restores exactly the copy, without a log that would be replayed over it', () => {
  const { file, db } = filled();
  createBackup(db, file);
  db.exec('INSERT INTO t VALUES (2)');
  db.close();
  writeFileSync(`${file}-wal`, 'left over');
  expect(restoreBackup(file)).toBe(true);
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(rows(file)).toEqual([1]);
  expect(restoreBackup(file)).toBe(false);
});

test('retains one generation after success', () => {
  const { file, db } = filled();
  for (const value of [2, 3]) {
    createBackup(db, file);
    db.exec(`INSERT INTO t VALUES (${value})`);
    keepBackup(file);
  }
  db.close();
  expect(rows(migratedBackup(file))).toEqual([1, 2]);
  expect(readdirSync(join(file, '..')).sort()).toEqual(['x.db', 'x.db.before-migration']);
});

test('a failed copy leaves no partial file', () => {
  const { file, db } = filled();
  db.close();
  expect(() => createBackup(db, file)).toThrow();
  expect(readdirSync(join(file, '..'))).toEqual(['x.db']);
});
