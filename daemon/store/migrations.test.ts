import { expect, test } from 'vitest';
import { connect } from './connection.ts';
import { APPLICATION_ID, latest, migrate, schemaVersion } from './migrations.ts';
import { RequestRows } from './request-rows.ts';
import { MIGRATIONS } from './schema.ts';

const STEPS = [
  { version: 1, name: 'one', sql: 'CREATE TABLE a (x); INSERT INTO a VALUES (1);' },
  { version: 2, name: 'two', sql: 'ALTER TABLE a ADD COLUMN y;' },
];

test('the released steps are numbered from 1 without gaps', () => {
  expect(MIGRATIONS.map((step) => step.version)).toEqual(MIGRATIONS.map((_, i) => i + 1));
});

test('every step runs once, in order, and is recorded', () => {
  const db = connect(':memory:');
  expect(schemaVersion(db)).toBe(0);
  migrate(db, STEPS.slice(0, 1));
  expect(schemaVersion(db)).toBe(1);
  migrate(db, STEPS);
  migrate(db, STEPS);
  expect(schemaVersion(db)).toBe(latest(STEPS));
  expect(db.prepare('SELECT count(*) FROM a').pluck().get()).toBe(1);
  expect(db.prepare('SELECT name FROM schema_migrations ORDER BY version').pluck().all()).toEqual([
    'one',
    'two',
  ]);
  expect(db.pragma('application_id', { simple: true })).toBe(APPLICATION_ID);
});

test.each([
  [4, ''],
  [
    5,
    'CREATE TABLE request_batches (last_seq INTEGER PRIMARY KEY, records TEXT) STRICT; DROP TABLE requests;',
  ],
])('a database of version %i loses its request log and keeps the rest', (version, sql) => {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS.slice(0, version));
  db.exec(sql);
  db.exec("INSERT INTO usage VALUES (1, '2026-11-20', 'client', 'm', 3, 40, 50)");
  migrate(db, MIGRATIONS);
  expect(new RequestRows(db).between(0, 9999, 9999)).toEqual([]);
  expect(db.prepare('SELECT requests FROM usage').pluck().all()).toEqual([3]);
  expect(
    db.prepare("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'request_batches%'").pluck().get(),
  ).toBe(0);
});

test('a failed step leaves nothing behind', () => {
  const db = connect(':memory:');
  const broken = [
    ...STEPS,
    { version: 3, name: 'three', sql: 'CREATE TABLE b (x); INSERT INTO nowhere VALUES (1);' },
  ];
  expect(() => migrate(db, broken)).toThrow(/nowhere/);
  expect(schemaVersion(db)).toBe(2);
  expect(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'b'").pluck().get()).toBe(0);
});

test("refuses another program's database", () => {
  const db = connect(':memory:');
  db.exec('CREATE TABLE foreign_table (x)');
  expect(() => schemaVersion(db)).toThrow('it belongs to another program');
});

test('a version that is not in the ledger is damage, not a newer release', () => {
  const db = connect(':memory:');
  migrate(db, STEPS);
  db.pragma('user_version = 16777218');
  expect(() => schemaVersion(db)).toThrow('its schema version is contradictory');
});
