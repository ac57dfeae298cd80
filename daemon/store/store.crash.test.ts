import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { connect } from './connection.ts';
import { openStore, type Store } from './store.ts';

function opened(folder: string): Store {
  const store = openStore({ folder, log: recordedLog().log });
  onTestFinished(() => store.close());
  return store;
}

/**
 * A process that opens the store of `folder`, runs `body` and prints a line for each `print(...)`, written
 * before it returns.
 */
function child(folder: string, body: string, prefix = '') {
  const from = (name: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);
  const script = `
    import { writeSync } from 'node:fs';
    import { openStore } from ${from('store.ts')};
    import { createLog } from ${from('../lib/log.ts')};
    const print = (value) => writeSync(1, JSON.stringify(value) + '\\n');
    const store = openStore({ folder: process.env.FOLDER, log: createLog({ level: 'error', write() {} }) });
    ${body}`;
  const command = `${prefix} exec "$NODE" --input-type=module -e "$SCRIPT"`;
  return spawn('/bin/bash', ['-c', command], {
    env: { FOLDER: folder, SCRIPT: script, NODE: process.execPath },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function printed(
  process: ReturnType<typeof child>,
  until = Number.POSITIVE_INFINITY,
): Promise<unknown[]> {
  const lines: unknown[] = [];
  for await (const line of createInterface({ input: process.stdout })) {
    lines.push(JSON.parse(line));
    if (lines.length === until) process.kill('SIGKILL');
  }
  return lines;
}

test('Q05 kill -9 while writing: no acknowledged row is lost, the file is intact', {
  timeout: 60_000,
}, async () => {
  const folder = scratch();
  let acknowledged = 0;
  for (let cycle = 0; cycle < 6; cycle++) {
    const writer = child(
      folder,
      `if (store.isContentLost) print({ lost: store.health().message });
      for (let n = ${acknowledged}; n < ${acknowledged} + 20_000; n++) {
        store.audit.add({ action: String(n), tier: null, address: null, details: {} });
        store.sessions.create('s' + n, n, 99_999_999);
        store.sessions.revoke('r' + n, 99_999_999);
        store.memory.add('memory ' + n, []);
        store.keyValue.set('last', String(n));
        print(n);
      }`,
    );
    const lines = await printed(writer, 40 + cycle * 37);
    expect(lines[0]).toBe(acknowledged);
    acknowledged = (lines.at(-1) as number) + 1;
    expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toEqual([]);
    const store = opened(folder);
    expect(store.health()).toMatchObject({ status: 'ok' });
    expect(Number(store.keyValue.get('last'))).toBeGreaterThanOrEqual(acknowledged - 1);
    store.close();
    const db = connect(join(folder, 'svc.db'), { readonly: true });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    const missing = (sql: string) =>
      db
        .prepare(
          `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
           SELECT count(*) FROM n WHERE NOT EXISTS (${sql})`,
        )
        .pluck()
        .get(acknowledged);
    expect(missing('SELECT 1 FROM audit WHERE action = CAST(i AS TEXT)')).toBe(0);
    expect(missing("SELECT 1 FROM sessions WHERE id = 's' || i")).toBe(0);
    expect(missing("SELECT 1 FROM sessions WHERE id = 'r' || i AND revoked = 1")).toBe(0);
    expect(missing("SELECT 1 FROM memories WHERE text = 'memory ' || i")).toBe(0);
    db.close();
  }
  expect(acknowledged).toBeGreaterThan(500);
});

test('Q02 a full disk: authentication and inference continue, dependent calls fail', async () => {
  const folder = scratch();
  const full = child(
    folder,
    `const text = 'word '.repeat(10_000);
     let failure = null;
     for (let n = 0; n < 100 && failure === null; n++) {
       try { store.memory.add(text, []); } catch (error) { failure = error.code; }
     }
     store.sessions.create('a', 1, 99_999);
     store.sessions.revoke('b', 99_999);
     for (let n = 0; n < 300; n++) store.audit.add({ action: 'login', tier: null, address: null, details: { text } });
     for (let n = 0; n < 1_500; n++) store.requests.add({ id: 'r' + n });
     store.keyValue.set('require_auth', 'true');
     store.check();
     print({ failure, revoked: store.sessions.isRevoked('b'), fact: store.keyValue.get('require_auth'),
       read: store.memory.list(1, 0).length, health: store.health() });
     store.close();
     print('closed');`,
    'ulimit -f 600;',
  );
  const [state, end] = await printed(full);
  expect(state).toMatchObject({
    failure: 'store.unavailable',
    revoked: true,
    fact: 'true',
    read: 1,
    health: {
      status: 'failed',
      message: expect.stringMatching(/^The database fails: (the disk is full|the disk reports)/),
    },
  });
  expect(end).toBe('closed');
  const store = opened(folder);
  expect(store.health().status).toBe('ok');
  expect(store.memory.list(1, 0)).toHaveLength(1);
});

test('no space even for a new file: uses memory', async () => {
  const folder = scratch();
  const full = child(folder, 'print(store.health()); print(store.memory.add("x", []).text)', 'ulimit -f 1;');
  const [health, text] = await printed(full);
  expect(health).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('nothing is saved across restarts'),
  });
  expect(text).toBe('x');
});

test('the process ends although the store was never closed', async () => {
  const folder = scratch();
  const idle = child(folder, 'print(1)');
  expect(await printed(idle)).toEqual([1]);
  if (idle.exitCode === null) await once(idle, 'exit');
  expect(idle.exitCode).toBe(0);
  expect(existsSync(join(folder, 'svc.db'))).toBe(true);
});
