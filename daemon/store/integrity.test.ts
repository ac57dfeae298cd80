import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { connect, type Db, enterWal } from './connection.ts';
import { inspect, moveAside } from './integrity.ts';
import { latest, migrate } from './migrations.ts';
import { MIGRATIONS } from './schema.ts';

const NOW = Date.UTC(2030, 0, 2, 3, 4, 5);

function database(change: (db: Db) => void = () => undefined): string {
  const file = join(scratch(), 'svc.db');
  const db = connect(file);
  enterWal(db);
  migrate(db, MIGRATIONS);
  change(db);
  db.close();
  return file;
}

test('an intact file returns its version', () => {
  expect(inspect(database())).toEqual({ state: 'sound', version: latest(MIGRATIONS) });
});

test('reports no file, an empty file, and a file that is not a database', () => {
  const file = join(scratch(), 'svc.db');
  expect(inspect(file)).toEqual({ state: 'absent' });
  writeFileSync(file, '');
  expect(inspect(file)).toEqual({ state: 'damaged', reason: 'it is empty' });
  writeFileSync(file, 'just text, no database at all\n'.repeat(200));
  expect(inspect(file)).toEqual({ state: 'damaged', reason: 'it is damaged' });
});

test('a search index without its words counts as damage', () => {
  const file = database((db) => {
    db.prepare("INSERT INTO memory_words (rowid, text, tags) VALUES (1, 'hello world', '')").run();
    db.unsafeMode(true);
    db.prepare("UPDATE memory_words_data SET block = x'ffffffff' WHERE id > 10").run();
  });
  expect(inspect(file).state).toBe('damaged');
});

test('an unreachable file is not damaged', () => {
  expect(inspect(dirname(database())).state).toBe('unreadable');
});

test('moves the log with the file, and adds the time to the name', () => {
  const file = database();
  writeFileSync(`${file}-wal`, 'log');
  expect(moveAside(file, NOW)).toBe('svc.db.damaged-20300102T030405Z');
  expect(moveAside(database(), NOW)).toBe('svc.db.damaged-20300102T030405Z');
  expect(readFileSync(`${file}.damaged-20300102T030405Z-wal`, 'utf8')).toBe('log');
  expect(existsSync(file) || existsSync(`${file}-wal`)).toBe(false);
});

test('gives two files within one second different names, and keeps the newest five', () => {
  const file = database();
  moveAside(file, NOW);
  for (let i = 0; i < 7; i++) {
    writeFileSync(file, String(i));
    moveAside(file, NOW + Math.floor(i / 2) * 1_000);
  }
  const names = readdirSync(dirname(file)).filter((name) => name.includes('damaged'));
  expect(names).toHaveLength(5);
  expect(readFileSync(join(dirname(file), names.sort().at(-1) as string), 'utf8')).toBe('6');
});
