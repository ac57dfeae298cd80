import { expect, test } from 'vitest';
import { SettingView } from '../contract/system.ts';
import { settingRows } from './catalogue.ts';
import { viewSetting } from './views.ts';

const row = (name: string) =>
  settingRows().find((one) => one.name === name) as ReturnType<typeof settingRows>[number];

test('every row at its default fits its schema', () => {
  for (const one of settingRows()) {
    const view = viewSetting(one, { value: one.default, source: 'default', persisted: undefined }, undefined);
    expect(SettingView.parse(view)).toEqual(view);
    expect(view.set).toBe(false);
  }
});

test('a secret shows only that it is set', () => {
  const view = viewSetting(
    row('adminKey'),
    { value: 'geheim', source: 'env', persisted: 'geheim2' },
    undefined,
  );
  expect(view).toMatchObject({ value: null, default: null, secret: true, set: true });
  expect(JSON.stringify(view)).not.toContain('geheim');
});

test('the persisted value shows when it is overridden', () => {
  const hosts = row('allowedHosts');
  expect(viewSetting(hosts, { value: ['a'], source: 'env', persisted: ['b'] }, undefined).persisted).toEqual([
    'b',
  ]);
  expect(
    viewSetting(hosts, { value: ['a'], source: 'file', persisted: ['a'] }, undefined),
  ).not.toHaveProperty('persisted');
});

test('a warning of the environment takes precedence over a problem of the file', () => {
  const at = { value: 1, source: 'file', persisted: 1 } as const;
  expect(viewSetting(row('port'), { ...at, warning: 'w' }, 'p').problem).toBe('w');
  expect(viewSetting(row('port'), at, 'p').problem).toBe('p');
  expect(viewSetting(row('port'), at, undefined)).not.toHaveProperty('problem');
});
