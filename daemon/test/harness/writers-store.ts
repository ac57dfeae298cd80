/** What SQLite writes: the store made, brought up from every earlier schema, and filled with rows of each family. */
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
import type { Left, Writer } from './writer.ts';

const log = silentLog();
const stateOf = (root: string) => join(root, 'state');
const fileOf = (root: string) => join(stateOf(root), 'svc.db');
const LATER_S = 99_999_999_999;
/** Rows of each family that were there before: enough for several pages. */
const BEFORE = 40;
const TEXT = 'some words of a row '.repeat(20);

/** The tables that every schema has had, with `:n` in the place of a number. */
const OLD_ROWS: readonly string[] = [
  `INSERT INTO facts VALUES ('old ' || :n, '${TEXT}')`,
  `INSERT INTO sessions VALUES ('old ' || :n, 1, ${LATER_S}, :n % 2)`,
  `INSERT INTO audit VALUES (:n, '2030-01-01', 'old ' || :n, NULL, NULL, '{}')`,
  `INSERT INTO memories VALUES (:n, 'old ' || :n, '${TEXT}', '[]', '2030-01-01')`,
];
const OLD_TABLES = ['facts', 'sessions', 'audit', 'memories'];

/** A database as a release with schema `version` left it. */
function lay(root: string, version: number): void {
  mkdirSync(stateOf(root), { recursive: true, mode: 0o700 });
  const { db } = openDatabase({
    folder: stateOf(root),
    migrations: MIGRATIONS.slice(0, version),
    build: () => {},
  });
  for (const sql of OLD_ROWS) {
    const insert = db.prepare(sql);
    for (let n = 1; n <= BEFORE; n++) insert.run({ n });
  }
  db.close();
}

/** Reads a database without writing it. */
function look<T>(file: string, read: (db: Db) => T): T {
  const db = connect(file, { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Opens a database as the next start does: what a death left half written is rolled back, or taken from the log. */
export function recovered(file: string): void {
  if (!existsSync(file)) return;
  try {
    const db = connect(file);
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    db.close();
  } catch {
    // The look that follows says what it is.
  }
}

/** What is wrong with a database that should be whole and hold the rows from before; null when nothing is. */
function flaw(file: string, rows: number): string | null {
  recovered(file);
  const found = inspect(file);
  if (found.state !== 'sound') return `it is ${found.state}`;
  return look(file, (db) => {
    const verdict = db.pragma('integrity_check', { simple: true });
    if (verdict !== 'ok') return String(verdict);
    const lacking = OLD_TABLES.find((table) => {
      const like =
        table === 'facts'
          ? "key LIKE 'old %'"
          : table === 'audit'
            ? "action LIKE 'old %'"
            : "id LIKE 'old %'";
      return db.prepare(`SELECT count(*) FROM ${table} WHERE ${like}`).pluck().get() !== rows;
    });
    return lacking === undefined ? null : `rows of ${lacking} are gone`;
  });
}

const versionOf = (file: string): number => {
  const found = inspect(file);
  return found.state === 'sound' ? found.version : -1;
};

/** Opens the store and closes it; throws what its health says unless all is well. */
function openAndClose(root: string): void {
  const store = openStore({ folder: stateOf(root), log });
  const { status, message } = store.health();
  store.close();
  if (status !== 'ok') throw new GatewayError('store.unavailable', { message });
}

/** The store opened on a database of schema `version`; 0 = there is none. */
const opening = (version: number): Writer => ({
  least: 20,
  native: true,
  // The schema is in place, and what comes after it failed.
  mayFailLate: true,
  prepare: (root) => (version === 0 ? undefined : lay(root, version)),
  begin: (root) => ({ write: async () => openAndClose(root) }),
  left(root) {
    const file = fileOf(root);
    const rows = version === 0 ? 0 : BEFORE;
    if (existsSync(stateOf(root)) && readdirSync(stateOf(root)).some((name) => name.includes('.damaged-')))
      return 'torn: it was moved aside as damaged';
    // The next start puts this one back.
    if (existsSync(runningBackup(file))) {
      const wrong = flaw(runningBackup(file), rows);
      return wrong === null ? 'between' : `torn: the copy from before: ${wrong}`;
    }
    if (!existsSync(file)) return version === 0 ? 'old' : 'torn: it is gone';
    const wrong = flaw(file, rows);
    if (wrong !== null) return `torn: ${wrong}`;
    const now = versionOf(file);
    if (now === NEWEST_SCHEMA) return 'new';
    return now === version ? 'old' : `torn: schema ${now}`;
  },
});

interface Family {
  readonly write: (store: Store, n: number) => unknown;
  /** Answers a row when it is there. */
  readonly there: string;
}

const FAMILIES: Readonly<Record<string, Family>> = {
  session: {
    write: ({ sessions }, n) => sessions.create(`new ${n}`, 1, LATER_S),
    there: "SELECT 1 FROM sessions WHERE id = 'new ' || ?",
  },
  revocation: {
    write: ({ sessions }, n) => sessions.revoke(`revoked ${n}`, LATER_S),
    there: "SELECT 1 FROM sessions WHERE id = 'revoked ' || ? AND revoked = 1",
  },
  fact: {
    write: ({ keyValue: facts }, n) => facts.set(`new ${n}`, TEXT),
    there: "SELECT 1 FROM facts WHERE key = 'new ' || ?",
  },
  event: {
    write: ({ audit }, n) => audit.add({ action: `new ${n}`, tier: null, address: null, details: { TEXT } }),
    there: "SELECT 1 FROM audit WHERE action = 'new ' || ?",
  },
  memory: {
    write: ({ memory }, n) => memory.add(`new ${n}`, ['tag']),
    there: "SELECT 1 FROM memories WHERE text = 'new ' || ?",
  },
  model: {
    write: ({ models }, n) => models.upsert(aModel({ id: `new ${n}` })),
    there: "SELECT 1 FROM models WHERE id = 'new ' || ?",
  },
};
const NAMES = Object.keys(FAMILIES);
const ROUNDS = 3;
/** Requests wait in memory for the flush, here that of the end. */
const REQUEST = "SELECT 1 FROM request_batches WHERE instr(records, 'new ' || ? || '\"')";

/** Every row that is written, as `family n`. */
const ALL_ROWS = Array.from({ length: ROUNDS }, (_, n) =>
  [...NAMES, 'request'].map((name) => `${name} ${n}`),
).flat();

/** Writes every row and acknowledges each at which nothing was said to be wrong. Throws the first fault. */
function fill(root: string, acknowledge: (what: string) => void): void {
  const store = openStore({ folder: stateOf(root), log });
  const faults: unknown[] = [];
  const wrong = (): GatewayError | null => {
    const { status, message } = store.health();
    return status === 'ok' ? null : new GatewayError('store.unavailable', { message });
  };
  const attempt = (what: string, work: () => unknown): void => {
    try {
      work();
      const fault = wrong();
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
  const fault = wrong();
  if (fault !== null) faults.push(fault);
  if (faults.length > 0) throw faults[0];
  for (let n = 0; n < ROUNDS; n++) acknowledge(`request ${n}`);
}

function isThere(db: Db, what: string): boolean {
  const [name = '', n] = what.split(' ');
  const sql = name === 'request' ? REQUEST : FAMILIES[name]?.there;
  return sql !== undefined && db.prepare(sql).get(n) !== undefined;
}

const ROWS: Writer = {
  least: 20,
  native: true,
  mayFailLate: true,
  prepare: (root) => lay(root, NEWEST_SCHEMA),
  begin: (root) => ({ write: async (acknowledge = () => {}) => fill(root, acknowledge) }),
  holds: (root, what) => look(fileOf(root), (db) => isThere(db, what)),
  left(root): Left {
    const wrong = flaw(fileOf(root), BEFORE);
    if (wrong !== null) return `torn: ${wrong}`;
    const there = look(fileOf(root), (db) => ALL_ROWS.filter((what) => isThere(db, what)).length);
    if (there === 0) return 'old';
    return there === ALL_ROWS.length ? 'new' : 'between';
  },
};

export const STORE: Readonly<Record<string, Writer>> = {
  'the store, made': opening(0),
  ...Object.fromEntries(
    MIGRATIONS.slice(0, -1).map(({ version }) => [`the store, from schema ${version}`, opening(version)]),
  ),
  'the store, filled': ROWS,
};
