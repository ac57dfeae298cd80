import { expect, test } from 'vitest';
import { settingsTable } from './settings-table.ts';
import type { SettingRow } from './system.ts';

const row: SettingRow = {
  name: 'port',
  env: null,
  toml: 'server.port',
  value: 1,
  source: 'file',
  default: 8080,
  secret: false,
  set: false,
  live: false,
  help: 'Where it listens.',
};

test('has a row for each setting, and shows a secret only as set or not set', () => {
  const key = { ...row, name: 'adminKey', value: 'geheim', secret: true, set: true, live: true };
  const [, first, second] = settingsTable([row, key]).split('\n');
  expect(first).toMatch(/^port +1 +file +- +server\.port +at the next start +Where it listens\.$/);
  expect(second).toMatch(/^adminKey +\(set\) +file .* at once /);
  expect(second).not.toContain('geheim');
});
