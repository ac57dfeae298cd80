import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { SetupError } from '../lib/setup-error.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { migratedBackup, runningBackup } from './backup.ts';
import { connect, type Db, enterWal } from './connection.ts';
import { migrate, schemaVersion } from './migrations.ts';
import { openDatabase } from './open.ts';
import { MIGRATIONS, type Migration } from './schema.ts';

const NEXT: Migration = {
  version: MIGRATIONS.length + 1,
  name: 'next',
  sql: 'ALTER TABLE facts ADD COLUMN note TEXT;',
};
const BROKEN: Migration = {
  version: MIGRATIONS.length + 2,
  name: 'fails on rows that are there',
  sql: 'INSERT INTO facts (key, value) SELECT key, value FROM facts;',
};
const keysOf = (db: Db): (() => unknown[]) => {
  const keys = db.prepare('SELECT key FROM facts ORDER BY key').pluck();
  return () => keys.all();
};

/** Opens a database and closes it after the test. */
function open(folder: string, migrations: readonly Migration[] = MIGRATIONS) {
  const opened = openDatabase({ folder, migrations, build: keysOf });
  onTestFinished(() => void opened.db.close());
  return opened;
}

/** A closed database with enough rows to span many pages. */
function filled(): { folder: string; file: string } {
  const folder = scratch();
  const { db, file } = openDatabase({ folder, build: keysOf });
  db.transaction(() => {
    const insert = db.prepare('INSERT INTO facts VALUES (?, ?)');
    for (let i = 0; i < 400; i++) insert.run(`key ${i}`, 'value '.repeat(40));
  })();
  db.close();
  return { folder, file };
}

function patch(file: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file);
  change(bytes);
  writeFileSync(file, bytes);
}

const aside = (folder: string) => readdirSync(folder).filter((name) => name.includes('.damaged-'));

test('a new folder gets a private database without an alarm', () => {
  const folder = join(scratch(), 'state');
  const { alarm, location, built, file, isContentLost } = open(folder);
  expect({ alarm, location, isContentLost, rows: built() }).toEqual({
    alarm: null,
    location: 'file',
    isContentLost: false,
    rows: [],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('reads what was written before', () => {
  const { folder } = filled();
  expect(open(folder).built()).toHaveLength(400);
  expect(aside(folder)).toEqual([]);
});

test('Q04 an interrupted first start leaves no database, and the next one creates a complete one without an alarm', () => {
  const folder = scratch();
  for (const name of ['svc.db.making', 'svc.db.making-journal', 'svc.db-wal']) {
    writeFileSync(join(folder, name), 'half of something');
  }
  const { alarm, isContentLost, location, db } = open(folder);
  expect({ alarm, isContentLost, location }).toEqual({ alarm: null, isContentLost: false, location: 'file' });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(readdirSync(folder).filter((name) => name.includes('making'))).toEqual([]);
  expect(aside(folder)).toEqual([]);
});

const DAMAGE: [string, (file: string) => void][] = [
  ['the header zeroed', (file) => patch(file, (bytes) => bytes.fill(0, 0, 100))],
  ['truncated to half its size', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
  ['truncated within a page', (file) => truncateSync(file, 5_000)],
  ['truncated to zero bytes', (file) => truncateSync(file, 0)],
  ['all pages but the first overwritten', (file) => patch(file, (bytes) => bytes.fill(0xa5, 4096))],
  ['text instead', (file) => writeFileSync(file, 'hello '.repeat(2_000))],
  ["another program's database", (file) => otherProgram(file)],
  ['a flipped version', (file) => patch(file, (bytes) => bytes.writeUInt32BE(0x01000001, 60))],
  ['a table renamed in the schema', (file) => renamed(file)],
];

function otherProgram(file: string): void {
  truncateSync(file, 0);
  const db = connect(file);
  db.exec('CREATE TABLE cookies (x)');
  db.close();
}

function renamed(file: string): void {
  const db = connect(file);
  db.exec('ALTER TABLE facts RENAME TO fakts');
  db.close();
}

test.each(DAMAGE)('Q01 %s: the file is moved aside, a new one works, the alarm reports it', (_, damage) => {
  const { folder, file } = filled();
  damage(file);
  const { alarm, location, built, db, isContentLost } = open(folder);
  const [name] = aside(folder).filter((each) => !/-(wal|shm)$/.test(each));
  expect(alarm).toContain(`renamed to ${name}`);
  expect(alarm).not.toContain(folder);
  expect({ location, isContentLost }).toEqual({ location: 'file', isContentLost: true });
  db.exec("INSERT INTO facts VALUES ('new', '1')");
  expect(built()).toEqual(['new']);
});

test('Q01 random bit flips: always opens, and the result works', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  let moved = 0;
  for (let round = 0; round < 30; round++) {
    const { folder, file } = filled();
    patch(file, (bytes) => {
      for (let flip = 0; flip < 40; flip++) {
        const at = random(bytes.length);
        bytes[at] = (bytes[at] as number) ^ (1 << random(8));
      }
    });
    const { db, built, location } = openDatabase({ folder, build: keysOf });
    expect(location).toBe('file');
    db.prepare("INSERT OR REPLACE INTO facts VALUES ('new', '1')").run();
    expect(built()).toContain('new');
    db.close();
    moved += aside(folder).length > 0 ? 1 : 0;
  }
  expect(moved).toBeGreaterThan(10);
});

test('invalid data in the log does not damage the database', () => {
  const { folder, file } = filled();
  writeFileSync(`${file}-wal`, Buffer.alloc(20_000, 0x5a));
  writeFileSync(`${file}-shm`, Buffer.alloc(32_768, 0x5a));
  const { built, db } = open(folder);
  expect(built()).toHaveLength(400);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('a path that cannot be a database: uses memory, with an alarm', () => {
  const folder = scratch();
  mkdirSync(join(folder, 'svc.db'));
  const { location, alarm, db, built } = open(folder);
  expect(location).toBe('memory');
  expect(alarm).toMatch(/^The database cannot be used \(it cannot be opened\): nothing is saved/);
  db.exec("INSERT INTO facts VALUES ('new', '1')");
  expect(built()).toEqual(['new']);
});

test('a folder that cannot be created: uses memory', () => {
  const file = join(scratch(), 'plain');
  writeFileSync(file, '');
  const { location, alarm } = open(join(file, 'state'));
  expect(location).toBe('memory');
  expect(alarm).toContain('ENOTDIR');
});

test('a file that another program locks: uses memory, and the file stays unchanged', () => {
  const { folder, file } = filled();
  const other = connect(file);
  other.pragma('locking_mode = EXCLUSIVE');
  other.exec("BEGIN EXCLUSIVE; INSERT INTO facts VALUES ('theirs', '1'); COMMIT");
  const { location, alarm } = open(folder);
  expect(location).toBe('memory');
  expect(alarm).toContain('locked by another program');
  other.close();
  expect(aside(folder)).toEqual([]);
});

test('upgrades an older schema and retains its last state', () => {
  const { folder, file } = filled();
  const { built, db } = open(folder, [...MIGRATIONS, NEXT]);
  expect(built()).toHaveLength(400);
  expect(schemaVersion(db)).toBe(NEXT.version);
  const migrated = connect(migratedBackup(file), { readonly: true });
  expect(schemaVersion(migrated)).toBe(MIGRATIONS.length);
  migrated.close();
});

test('Q04 a failing migration: the file is unchanged, the daemon continues in memory', () => {
  const { folder, file } = filled();
  const { location, alarm, built, isContentLost } = open(folder, [...MIGRATIONS, NEXT, BROKEN]);
  expect(location).toBe('memory');
  expect(alarm).toContain('nothing is saved across restarts');
  expect({ rows: built(), isContentLost }).toEqual({ rows: [], isContentLost: true });
  const reopened = connect(file);
  expect(schemaVersion(reopened)).toBe(MIGRATIONS.length);
  expect(keysOf(reopened)()).toHaveLength(400);
  reopened.close();
  expect(readdirSync(folder)).toEqual(['svc.db']);
});

test('Q04 refuses a newer schema and does not write it', () => {
  const { folder, file } = filled();
  open(folder, [...MIGRATIONS, NEXT]).db.close();
  const before = readFileSync(file);
  expect(() => open(folder)).toThrow(SetupError);
  expect(() => open(folder)).toThrow(
    `The database has schema ${NEXT.version}; this release knows schemas up to ${MIGRATIONS.length}.`,
  );
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(aside(folder)).toEqual([]);
});

test('refuses a newer schema that is only in the log, and does not write it', async () => {
  const { folder, file } = filled();
  const child = migratingChild(folder, `${NEXT.sql} `, "'migrated\\n'");
  await printed(child.stdout, 'migrated');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const before = readFileSync(file);
  expect(() => open(folder)).toThrow(SetupError);
  expect(readFileSync(file).equals(before)).toBe(true);
});

async function printed(output: Readable, word: string): Promise<void> {
  for await (const chunk of output.iterator({ destroyOnReturn: false }))
    if (String(chunk).includes(word)) return;
}

/** A process that runs one more migration and then writes `output` to its output. */
function migratingChild(folder: string, sql: string, output: string) {
  const from = (name: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);
  const script = `
    import { openDatabase } from ${from('open.ts')};
    import { MIGRATIONS } from ${from('schema.ts')};
    const opened = openDatabase({ folder: process.env.FOLDER, build: () => null,
      migrations: [...MIGRATIONS, { version: MIGRATIONS.length + 1, name: 'next', sql: process.env.SQL }] });
    process.stdout.write(${output});
    setInterval(() => opened, 1000);`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { FOLDER: folder, SQL: sql },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test('Q04 a killed migration: the backup is restored', async () => {
  const { folder } = filled();
  const endless =
    "DELETE FROM facts; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO facts SELECT i, '' FROM n LIMIT 2000000000;";
  const child = migratingChild(folder, endless, "'done\\n'");
  await expect.poll(() => readdirSync(folder), { timeout: 10_000 }).toContain('svc.db.migrating');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { built, alarm, db } = open(folder);
  expect(alarm).toBeNull();
  expect(schemaVersion(db)).toBe(MIGRATIONS.length);
  expect(built()).toHaveLength(400);
  expect(readdirSync(folder)).not.toContain('svc.db.migrating');
});

test('killed between two steps: back to the first schema', () => {
  const { folder, file } = filled();
  const half = connect(file);
  enterWal(half);
  half.prepare('VACUUM INTO ?').run(runningBackup(file));
  migrate(half, [...MIGRATIONS, NEXT]);
  half.exec('DELETE FROM facts');
  half.close();
  const { built, db } = open(folder);
  expect(schemaVersion(db)).toBe(MIGRATIONS.length);
  expect(built()).toHaveLength(400);
});

test('a damaged backup does not replace an intact database', () => {
  const { folder, file } = filled();
  writeFileSync(runningBackup(file), 'half a backup');
  expect(open(folder).built()).toHaveLength(400);
  expect(aside(folder)).toHaveLength(1);
});
