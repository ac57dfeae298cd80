import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { LastGood } from './last-good.ts';

let folder = '';
beforeEach(() => {
  folder = scratch();
});
const lines: string[] = [];
const memory = () => new LastGood(folder, createLog({ level: 'warn', write: (line) => lines.push(line) }));
const at = (name: string) => join(folder, name);

test('loads what was saved, readable by the owner only', async () => {
  const lastGood = new Map<string, unknown>([
    ['server.port', 9000],
    ['security.allowed_hosts', ['a']],
  ]);
  await memory().save({ lastGood, config: true, apiEnv: false });
  expect(await memory().load()).toEqual({ lastGood, config: true, apiEnv: false });
  expect(
    ['last-good.json', 'enforcement.json'].map((name) => (statSync(at(name)).mode & 0o777).toString(8)),
  ).toEqual(['600', '600']);
});

test('without a saved state enforcement is off', async () => {
  expect(await memory().load()).toEqual({ lastGood: null, config: false, apiEnv: false });
});

test('does not write a configuration that was never read', async () => {
  await memory().save({ lastGood: null, config: false, apiEnv: false });
  expect(await memory().load()).toEqual({ lastGood: null, config: false, apiEnv: false });
});

test('damaged files: values are dropped, enforcement counts as on', async () => {
  for (const text of ['', '[1]', 'null', '{"config":', 'x'.repeat(2 << 20)]) {
    writeFileSync(at('last-good.json'), text);
    writeFileSync(at('enforcement.json'), text);
    expect(await memory().load()).toEqual({ lastGood: null, config: true, apiEnv: true });
  }
  writeFileSync(at('enforcement.json'), '{"config":false}');
  expect(await memory().load()).toMatchObject({ config: false, apiEnv: true });
});

test('drops values that the settings no longer accept individually', async () => {
  writeFileSync(
    at('last-good.json'),
    JSON.stringify({ 'server.port': 1, 'security.require_auth': 'yes', old: 1, __proto__: 2 }),
  );
  expect((await memory().load()).lastGood).toEqual(new Map([['server.port', 1]]));
});

test('does not write an unchanged state again', async () => {
  const state = { lastGood: new Map<string, unknown>([['server.port', 1]]), config: true, apiEnv: true };
  await memory().save(state);
  const reopened = memory();
  await reopened.load();
  chmodSync(at('enforcement.json'), 0o400);
  const before = statSync(at('enforcement.json')).ino;
  await reopened.save(state);
  expect(statSync(at('enforcement.json')).ino).toBe(before);
});

test('reports and retries a failed write', async () => {
  mkdirSync(at('last-good.json'));
  const one = memory();
  const state = { lastGood: new Map<string, unknown>([['server.port', 1]]), config: true, apiEnv: true };
  await one.save(state);
  expect([one.failed, lines.length]).toEqual([true, 1]);
  rmSync(at('last-good.json'), { recursive: true });
  await one.save(state);
  expect([one.failed, readFileSync(at('last-good.json'), 'utf8')]).toEqual([false, '{"server.port":1}\n']);
});
