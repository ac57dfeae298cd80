import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { assertSqliteVersion, atLeast, connect, enterWal, MIN_SQLITE, makePrivate } from './connection.ts';

test.each([
  ['3.51.3', '3.51.3', true],
  ['3.51.2', '3.51.3', false],
  ['3.54', '3.51.3', true],
  ['3.9.99', '3.51.3', false],
  ['4', '3.51.3', true],
])('%s at least %s: %s', (a, b, expected) => {
  expect(atLeast(a, b)).toBe(expected);
});

test('the installed library is safe', () => {
  expect(atLeast(assertSqliteVersion(), MIN_SQLITE)).toBe(true);
});

test('database, log and index are readable by their owner only', () => {
  const file = join(scratch(), 'x.db');
  makePrivate(file);
  const db = connect(file);
  enterWal(db);
  db.exec('CREATE TABLE t (a)');
  for (const suffix of ['', '-wal', '-shm']) expect(statSync(`${file}${suffix}`).mode & 0o777).toBe(0o600);
  db.close();
});

test('narrows the mode of a file that others can read, and keeps its content', () => {
  const file = join(scratch(), 'x.db');
  writeFileSync(file, 'content');
  chmodSync(file, 0o644);
  makePrivate(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(file).size).toBe(7);
});

test('the safety settings are on', () => {
  const db = connect(join(scratch(), 'x.db'));
  enterWal(db);
  const value = (name: string) => db.pragma(name, { simple: true });
  expect(value('journal_mode')).toBe('wal');
  expect(value('synchronous')).toBe(1);
  expect(value('foreign_keys')).toBe(1);
  expect(value('trusted_schema')).toBe(0);
  expect(value('cell_size_check')).toBe(1);
  expect(value('secure_delete')).toBe(1);
  expect(value('busy_timeout')).toBeGreaterThan(0);
  db.close();
});
