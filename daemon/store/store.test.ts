import { chmodSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { connect } from './connection.ts';
import { DEFAULT_RETENTION } from './retention-limits.ts';
import { openStore, type Store } from './store.ts';
import { aModel, aRequest } from './testing/rows.ts';

function opened(folder = scratch()): { store: Store; folder: string; lines: Record<string, unknown>[] } {
  const { log, lines } = recordedLog();
  const store = openStore({ folder, log });
  onTestFinished(() => store.close());
  return { store, folder, lines };
}

const error = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (thrown) {
    return thrown;
  }
};

test('all kinds of rows survive a restart', () => {
  const { store, folder } = opened();
  store.sessions.create('one', 1, 99_999);
  store.sessions.revoke('two', 99_999);
  store.audit.add({ action: 'login', tier: 'admin', address: null, details: {} });
  store.requests.add(aRequest());
  store.models.upsert(aModel());
  const memory = store.memory.add('remember this', []);
  store.keyValue.set('require_auth', 'true');
  store.close();
  store.close();
  expect(readdirSync(folder)).toEqual(['svc.db']);

  const { store: next, lines } = opened(folder);
  expect(next.sessions.active(5).map(({ id }) => id)).toEqual(['one']);
  expect(next.sessions.isRevoked('two')).toBe(true);
  expect(next.audit.list(5)).toHaveLength(1);
  expect(next.requests.get('r1')).toEqual({ ...aRequest(), story: null });
  expect(next.usage.since('2030-01-01')).toHaveLength(1);
  expect(next.models.all()).toEqual([aModel()]);
  expect(next.memory.list(5, 0)).toEqual([memory]);
  expect(next.keyValue.get('require_auth')).toBe('true');
  expect(next.health()).toMatchObject({ status: 'ok' });
  expect(next.isContentLost).toBe(false);
  expect(lines).toEqual([]);
});

test('the first write after a start applies the row limits', () => {
  const folder = scratch();
  const count = (table: string) => {
    const reader = connect(join(folder, 'svc.db'), { readonly: true });
    try {
      return reader.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
    } finally {
      reader.close();
    }
  };
  const write = (rows: number, names: readonly string[]) => {
    const limits = () => ({ ...DEFAULT_RETENTION, requestRows: rows, usageRows: rows });
    const store = openStore({ folder, log: recordedLog().log, limits });
    for (const id of names) store.requests.add(aRequest({ id, model: id }));
    store.close();
    return [count('requests'), count('usage')];
  };
  expect(write(100, ['a', 'b', 'c', 'd', 'e'])).toEqual([5, 5]);
  expect(write(1, ['f'])).toEqual([1, 1]);
});

test('requests reach the file without a close', async () => {
  const { store, folder } = opened();
  store.requests.add(aRequest());
  const reader = connect(join(folder, 'svc.db'), { readonly: true });
  const count = reader.prepare('SELECT count(*) FROM requests').pluck();
  await expect.poll(() => count.get(), { timeout: 5_000 }).toBe(1);
  reader.close();
});

test('Q01 a damaged file: one alarm in the log and in the health, everything works', () => {
  const { store: first, folder } = opened();
  first.close();
  truncateSync(join(folder, 'svc.db'), 5_000);
  const { store, lines } = opened(folder);
  store.check();
  expect(store.isContentLost).toBe(true);
  expect(store.health()).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('renamed to svc.db.damaged-'),
  });
  expect(store.health().message).not.toContain(folder);
  expect(lines).toMatchObject([{ level: 'error', msg: store.health().message }]);
  store.models.upsert(aModel());
  expect(store.models.all()).toHaveLength(1);
});

test('no usable file: uses memory, reports failed health, everything works', () => {
  const folder = scratch();
  mkdirSync(join(folder, 'svc.db'));
  const { store, lines } = opened(folder);
  store.sessions.revoke('a', 99_999);
  store.audit.add({ action: 'login', tier: 'admin', address: null, details: {} });
  store.memory.add('remember this', []);
  store.check();
  expect(store.sessions.isRevoked('a')).toBe(true);
  expect(store.memory.search('remember', 5)).toHaveLength(1);
  expect(store.health()).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('nothing is saved'),
  });
  expect(lines).toHaveLength(1);
});

test.skipIf(process.getuid?.() === 0)('a read-only folder: the content is used in memory', () => {
  const { store: first, folder } = opened();
  first.models.upsert(aModel());
  first.sessions.revoke('a', 99_999);
  first.close();
  chmodSync(folder, 0o500);
  onTestFinished(() => chmodSync(folder, 0o700));
  const { store } = opened(folder);
  expect(store.health()).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('read into memory'),
  });
  expect(store.models.all()).toEqual([aModel()]);
  expect(store.sessions.isRevoked('a')).toBe(true);
});

test('Q02 locked by another program: only callers that need the row fail, other writes are queued', () => {
  const { store, folder } = opened();
  store.sessions.create('a', 1, 99_999);
  const other = connect(join(folder, 'svc.db'));
  other.exec('BEGIN IMMEDIATE');
  expect(error(() => store.memory.add('x', []))).toMatchObject({ code: 'store.unavailable', status: 503 });
  expect(error(() => store.models.upsert(aModel()))).toMatchObject({ code: 'store.unavailable' });
  const begin = performance.now();
  for (let i = 0; i < 50; i++) {
    store.sessions.revoke('a', 99_999);
    store.audit.add({ action: `n${i}`, tier: 'admin', address: null, details: {} });
    store.requests.add(aRequest({ id: `r${i}` }));
    store.keyValue.set('require_auth', 'true');
  }
  expect(performance.now() - begin).toBeLessThan(2_000);
  expect(store.sessions.isRevoked('a')).toBe(true);
  expect(store.models.all()).toEqual([]);
  expect(store.health()).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('locked by another program'),
  });
  other.exec('ROLLBACK');
  store.memory.add('y', []);
  store.close();
  expect(
    ['sessions WHERE revoked = 1', 'audit', 'requests', 'facts'].map((from) =>
      other.prepare(`SELECT count(*) FROM ${from}`).pluck().get(),
    ),
  ).toEqual([1, 50, 50, 1]);
  other.close();
});

test('the health recovers once the cause is fixed', async () => {
  const { store, folder } = opened();
  const other = connect(join(folder, 'svc.db'));
  other.exec('BEGIN IMMEDIATE');
  store.audit.add({ action: 'login', tier: 'admin', address: null, details: {} });
  expect(store.health().status).toBe('failed');
  other.exec('ROLLBACK');
  other.close();
  const checked = () => {
    store.check();
    return store.health().status;
  };
  await expect.poll(checked, { timeout: 10_000 }).toBe('ok');
  expect(store.audit.list(5)).toHaveLength(1);
});

test('Q06 a blocked reader lets the log grow: an alarm, and it shrinks once the reader has closed', () => {
  const { store, folder } = opened();
  const wal = join(folder, 'svc.db-wal');
  const reader = connect(join(folder, 'svc.db'), { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM audit').get();
  const details = { text: 'x'.repeat(60_000) };
  const add = () => store.audit.add({ action: 'big', tier: null, address: null, details });
  for (let i = 0; i < 1_150; i++) add();
  store.check();
  expect(statSync(wal).size).toBeGreaterThan(64 * 1024 * 1024);
  expect(store.health()).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('another program keeps the database open'),
  });
  reader.exec('ROLLBACK');
  reader.close();
  store.check();
  add();
  store.check();
  expect(statSync(wal).size).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(store.health().status).toBe('ok');
});

test('reports and counts rows that cannot be written before the end', () => {
  const folder = scratch();
  const { log, lines } = recordedLog();
  const store = openStore({ folder, log });
  const lock = connect(join(folder, 'svc.db'));
  lock.exec('BEGIN IMMEDIATE');
  store.keyValue.set('a', '1');
  store.close();
  lock.close();
  expect(lines.at(-1)).toMatchObject({ level: 'error', rows: 1 });
  expect(store.health()).toMatchObject({ message: expect.stringContaining('1 log rows were dropped') });
});
