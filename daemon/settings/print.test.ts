import { expect, test } from 'vitest';
import { settingsTable } from '../contract/settings-table.ts';
import { settingRows } from './catalogue.ts';
import { evaluateConfig } from './config-layer.ts';
import { evaluateEnv } from './env-layer.ts';
import { exampleConfigFile, exampleEnvFile } from './print.ts';
import { viewSetting } from './views.ts';

const bytes = (text: string) => ({ kind: 'bytes' as const, bytes: Buffer.from(text), mode: 0o600, uid: 0 });
const noMemory = { lastGood: null, enforced: false };
const config = (text: string) => evaluateConfig(bytes(text), noMemory);
const env = (text: string) => evaluateEnv(bytes(text), { last: null, enforced: false, uid: null });

test('the unchanged examples set nothing and have no problems', () => {
  expect(config(exampleConfigFile())).toMatchObject({ state: 'good', values: new Map(), problems: [] });
  expect(env(exampleEnvFile())).toMatchObject({ state: 'good', values: new Map(), problems: [] });
});

test('with every key uncommented config.toml gives every default', () => {
  const all = config(exampleConfigFile().replace(/^#(?=[a-z_]+ = |\[)/gm, ''));
  const rows = settingRows().filter((row) => row.toml !== undefined && row.example === undefined);
  expect(all.problems).toEqual([]);
  expect(Object.fromEntries(all.values)).toEqual(
    Object.fromEntries(rows.map((row) => [row.toml, row.default])),
  );
});

test('an example line is a valid value of its setting', () => {
  for (const { toml, example } of settingRows()) {
    if (example === undefined) continue;
    const read = config(`[${toml?.split('.')[0]}]\n${example}\n`);
    expect(read.problems).toEqual([]);
    expect([...read.values.keys()]).toEqual([toml]);
  }
});

test('with every line uncommented api.env gives every default', () => {
  const all = env(exampleEnvFile().replace(/^#(?=[A-Z_]+=)/gm, ''));
  expect(all.problems).toEqual([]);
  for (const row of settingRows()) {
    if (row.env === undefined) continue;
    const text = all.values.get(row.env) as string;
    if (text !== '') expect(row.type.fromText(text)).toEqual({ ok: true, value: row.default });
  }
});

test('no line is too long, and each setting states when it takes effect', () => {
  for (const text of [exampleConfigFile(), exampleEnvFile()]) {
    expect(text.endsWith('\n')).toBe(true);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(160);
    expect(text).toMatch(/takes effect at once/);
    expect(text).toMatch(/takes effect at the next start/);
  }
});

test('the table has one line per setting, with its problem, and never a key', () => {
  const views = settingRows().map((row) =>
    viewSetting(
      row,
      {
        value: row.name === 'adminKey' ? 'geheim' : row.name === 'allowedHosts' ? ['a', 'b'] : row.default,
        source: 'env',
        persisted: undefined,
      },
      row.name === 'port' ? 'is odd' : undefined,
    ),
  );
  const lines = settingsTable(views).trimEnd().split('\n');
  expect(lines).toHaveLength(views.length + 1);
  expect(lines[0]).toMatch(/^setting +value +source +variable +config\.toml +effect +what it is$/);
  const line = (name: string) => lines.find((one) => one.startsWith(`${name} `));
  expect(line('adminKey')).toMatch(/^adminKey +\(set\) +env +SVC_ADMIN_KEY +- +at once/);
  expect(line('clientKey')).toMatch(/\(not set\)/);
  expect(line('model')).toMatch(/\(not set\)/);
  expect(line('allowedHosts')).toMatch(/ a,b /);
  expect(line('modelFolders')).toMatch(/\(none\)/);
  expect(line('port')).toMatch(/PROBLEM: is odd$/);
  expect(lines.join('\n')).not.toContain('geheim');
});
