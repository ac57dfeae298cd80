/** Writes of SQLite: the store created, migrated from every earlier schema, and filled with rows of each family. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';
import { silentLog } from '../../lib/log.ts';
import { runningBackup } from '../../store/backup.ts';
import { connect, type Db } from '../../store/connection.ts';
import { NEWEST_SCHEMA } from '../../store/copy.ts';
import { inspect } from '../../store/integrity.ts';
import { openDatabase } from '../../store/open.ts';
import { MIGRATIONS } from '../../store/schema.ts';
import { openStore, type Store } from '../../store/store.ts';
import { aModel, aRequest } from '../../store/testing/rows.ts';
import type { Outcome, Writer } from './writer.ts';

const log = silentLog();
const stateOf = (root: string) => join(root, 'state');
const fileOf = (root: string) => join(stateOf(root), 'svc.db');
const LATER_S = 99_999_999_999;
/** Existing rows of each family: enough for several pages. */
const OLD_ROW_COUNT = 40;
const TEXT = 'some words of a row '.repeat(20);

/** Rows of the tables that every schema has; `:n` is a number. */
const OLD_ROWS: readonly string[] = [
  `INSERT INTO facts VALUES ('old ' || :n, '${TEXT}')`,
  `INSERT INTO sessions VALUES ('old ' || :n, 1, ${LATER_S}, :n % 2)`,
  `INSERT INTO audit VALUES (:n, '2030-01-01', 'old ' || :n, NULL, NULL, '{}')`,
  `INSERT INTO memories VALUES (:n, 'old ' || :n, '${TEXT}', '[]', '2030-01-01')`,
];
const OLD_TABLES = ['facts', 'sessions', 'audit', 'memories'];

/** Creates a database of a release with schema `version`. */
function createDatabase(root: string, version: number): void {
  mkdirSync(stateOf(root), { recursive: true, mode: 0o700 });
  const { db } = openDatabase({
    folder: stateOf(root),
    migrations: MIGRATIONS.slice(0, version),
    build: () => {},
  });
  for (const sql of OLD_ROWS) {
    const insert = db.prepare(sql);
    for (let n = 1; n <= OLD_ROW_COUNT; n++) insert.run({ n });
  }
  db.close();
}

/** Reads a database without writing to it. */
function readDatabase<T>(file: string, read: (db: Db) => T): T {
  const db = connect(file, { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Opens a database as the next start does, so that SQLite recovers it: an unfinished transaction is rolled back. */
export function recoverDatabase(file: string): void {
  if (!existsSync(file)) return;
  try {
    const db = connect(file);
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    db.close();
  } catch {
    // The following inspection reports the defect.
  }
}

/** Returns the defect of a database that must be sound and have the existing rows, or null. */
function findDefect(file: string, rows: number): string | null {
  recoverDatabase(file);
  const found = inspect(file);
  if (found.state !== 'sound') return `it is ${found.state}`;
  return readDatabase(file, (db) => {
    const verdict = db.pragma('integrity_check', { simple: true });
    if (verdict !== 'ok') return String(verdict);
    const incomplete = OLD_TABLES.find((table) => {
      const like =
        table === 'facts'
          ? "key LIKE 'old %'"
          : table === 'audit'
            ? "action LIKE 'old %'"
            : "id LIKE 'old %'";
      return db.prepare(`SELECT count(*) FROM ${table} WHERE ${like}`).pluck().get() !== rows;
    });
    return incomplete === undefined ? null : `rows of ${incomplete} are gone`;
  });
}

const versionOf = (file: string): number => {
  const found = inspect(file);
  return found.state === 'sound' ? found.version : -1;
};

/** Opens and closes the store. Throws when its health is not ok. */
function openAndClose(root: string): void {
  const store = openStore({ folder: stateOf(root), log });
  const { status, message } = store.health();
  store.close();
  if (status !== 'ok') throw new GatewayError('store.unavailable', { message });
}

/** Opens the store on a database of schema `version`; 0 = no database. */
const openingStore = (version: number): Writer => ({
  minCalls: 20,
  native: true,
  // The schema is in place, but a later step can fail.
  canFailLate: true,
  prepare: (root) => (version === 0 ? undefined : createDatabase(root, version)),
  begin: (root) => ({ write: async () => openAndClose(root) }),
  outcome(root) {
    const file = fileOf(root);
    const rows = version === 0 ? 0 : OLD_ROW_COUNT;
    if (existsSync(stateOf(root)) && readdirSync(stateOf(root)).some((name) => name.includes('.damaged-')))
      return 'torn: it was moved aside as damaged';
    // The next start restores this copy.
    if (existsSync(runningBackup(file))) {
      const defect = findDefect(runningBackup(file), rows);
      return defect === null ? 'between' : `torn: the copy from before: ${defect}`;
    }
    if (!existsSync(file)) return version === 0 ? 'old' : 'torn: it is gone';
    const defect = findDefect(file, rows);
    if (defect !== null) return `torn: ${defect}`;
    const schema = versionOf(file);
    if (schema === NEWEST_SCHEMA) return 'new';
    return schema === version ? 'old' : `torn: schema ${schema}`;
  },
});

interface Family {
  readonly write: (store: Store, n: number) => unknown;
  /** SQL that selects the row. */
  readonly selectSql: string;
}

const FAMILIES: Readonly<Record<string, Family>> = {
  session: {
    write: ({ sessions }, n) => sessions.create(`new ${n}`, 1, LATER_S),
    selectSql: "SELECT 1 FROM sessions WHERE id = 'new ' || ?",
  },
  revocation: {
    write: ({ sessions }, n) => sessions.revoke(`revoked ${n}`, LATER_S),
    selectSql: "SELECT 1 FROM sessions WHERE id = 'revoked ' || ? AND revoked = 1",
  },
  fact: {
    write: ({ keyValue: facts }, n) => facts.set(`new ${n}`, TEXT),
    selectSql: "SELECT 1 FROM facts WHERE key = 'new ' || ?",
  },
  event: {
    write: ({ audit }, n) => audit.add({ action: `new ${n}`, tier: null, address: null, details: { TEXT } }),
    selectSql: "SELECT 1 FROM audit WHERE action = 'new ' || ?",
  },
  memory: {
    write: ({ memory }, n) => memory.add(`new ${n}`, ['tag']),
    selectSql: "SELECT 1 FROM memories WHERE text = 'new ' || ?",
  },
  model: {
    write: ({ models }, n) => models.upsert(aModel({ id: `new ${n}` })),
    selectSql: "SELECT 1 FROM models WHERE id = 'new ' || ?",
  },
};
const NAMES = Object.keys(FAMILIES);
const ROUNDS = 3;
/** Requests stay in memory until the flush, here the one at the end. */
const REQUEST = "SELECT 1 FROM requests WHERE id = 'new ' || ?";

/** Every written row, as `family n`. */
const ALL_ROWS = Array.from({ length: ROUNDS }, (_, n) =>
  [...NAMES, 'request'].map((name) => `${name} ${n}`),
).flat();

/** Writes every row and acknowledges each that caused no error. Throws the first error. */
function fill(root: string, acknowledge: (what: string) => void): void {
  const store = openStore({ folder: stateOf(root), log });
  const faults: unknown[] = [];
  const healthError = (): GatewayError | null => {
    const { status, message } = store.health();
    return status === 'ok' ? null : new GatewayError('store.unavailable', { message });
  };
  const attempt = (what: string, work: () => unknown): void => {
    try {
      work();
      const fault = healthError();
      if (fault === null) acknowledge(what);
      else faults.push(fault);
    } catch (error) {
      faults.push(error);
    }
  };
  for (let n = 0; n < ROUNDS; n++) {
    for (const [name, { write }] of Object.entries(FAMILIES)) attempt(`${name} ${n}`, () => write(store, n));
    store.requests.add(aRequest({ id: `new ${n}` }));
  }
  store.close();
  const fault = healthError();
  if (fault !== null) faults.push(fault);
  if (faults.length > 0) throw faults[0];
  for (let n = 0; n < ROUNDS; n++) acknowledge(`request ${n}`);
}

function hasRow(db: Db, what: string): boolean {
  const [name = '', n] = what.split(' ');
  const sql = name === 'request' ? REQUEST : FAMILIES[name]?.selectSql;
  return sql !== undefined && db.prepare(sql).get(n) !== undefined;
}

const ROWS: Writer = {
  minCalls: 20,
  native: true,
  canFailLate: true,
  prepare: (root) => createDatabase(root, NEWEST_SCHEMA),
  begin: (root) => ({ write: async (acknowledge = () => {}) => fill(root, acknowledge) }),
  contains: (root, what) => readDatabase(fileOf(root), (db) => hasRow(db, what)),
  outcome(root): Outcome {
    const defect = findDefect(fileOf(root), OLD_ROW_COUNT);
    if (defect !== null) return `torn: ${defect}`;
    const rowCount = readDatabase(fileOf(root), (db) => ALL_ROWS.filter((what) => hasRow(db, what)).length);
    if (rowCount === 0) return 'old';
    return rowCount === ALL_ROWS.length ? 'new' : 'between';
  },
};

export const STORE: Readonly<Record<string, Writer>> = {
  'the store, created': openingStore(0),
  ...Object.fromEntries(
    MIGRATIONS.slice(0, -1).map(({ version }) => [
      `the store, from schema ${version}`,
      openingStore(version),
    ]),
  ),
  'the store, filled': ROWS,
};
