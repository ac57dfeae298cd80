import { describe, expect, it } from 'vitest';
import type { SettingRow } from '../../../daemon/contract/system.ts';
import { byTable, kindOfSetting, lockOfSetting, showsSetting, valueText } from './setting-words.ts';

const row = (over: Partial<SettingRow> = {}): SettingRow => ({
  name: 'port',
  env: 'SVC_PORT',
  toml: 'server.port',
  value: 8080,
  source: 'default',
  default: 8080,
  secret: false,
  set: false,
  live: false,
  help: 'TCP port the gateway listens on.',
  ...over,
});

it('byTable preserves catalogue order and groups settings that are not in the file', () => {
  const rows = [
    row(),
    row({ name: 'x', toml: 'new_one.x' }),
    row({ name: 'key', toml: null }),
    row({ name: 'y' }),
  ];
  expect(byTable(rows).map(({ title, rows: own }) => [title, own.map(({ name }) => name)])).toEqual([
    ['Server', ['port', 'y']],
    ['new_one', ['x']],
    ['Secrets and environment', ['key']],
  ]);
});

it.each([
  [true, 'yes'],
  [[], 'none'],
  [['a', 'b'], 'a, b'],
  [{}, 'none'],
  [{ a: ['b', 'c'], d: ['e'] }, 'a = b, c; d = e'],
  [null, 'none'],
  [0, '0'],
])('valueText(%j)', (value, text) => expect(valueText(value)).toBe(text));

it('shows sizes with a unit, and edits them as text', () => {
  expect(valueText(4_000_000_000, 'bytes')).toBe('4 GB');
  expect(kindOfSetting(row({ default: 0, unit: 'bytes' }))).toBe('text');
});

it.each([
  [false, 'flag'],
  [7, 'number'],
  [[], 'list'],
  [{}, 'map'],
  ['', 'text'],
])('kindOfSetting of default %j', (value, kind) => expect(kindOfSetting({ default: value })).toBe(kind));

describe('lockOfSetting', () => {
  it.each([
    [{}, null],
    [{ source: 'file' } as const, null],
    [{ source: 'env' } as const, 'env'],
    [{ secret: true, source: 'env' } as const, 'secret'],
    [{ name: 'requireAuth' }, 'enforcement'],
    [{ toml: null }, 'no_file'],
  ])('%j', (over, lock) => expect(lockOfSetting(row(over))).toBe(lock));
});

it('showsSetting matches names and help, and changed settings', () => {
  expect(showsSetting(row(), 'tcp SVC_PORT', false)).toBe(true);
  expect(showsSetting(row(), 'udp', false)).toBe(false);
  expect(showsSetting(row(), '', true)).toBe(false);
  for (const over of [{ source: 'env' as const }, { problem: 'bad' }, { running: 1 }]) {
    expect(showsSetting(row(over), '', true)).toBe(true);
  }
});
