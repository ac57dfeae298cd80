import { chmodSync, chownSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { SetupError } from '../lib/setup-error.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { existingFolders, folderPaths, openFolders } from './folders.ts';

let base = '';
beforeEach(() => {
  base = scratch();
});

test.each<[string, Record<string, string>, string, string]>([
  [
    'SVC_HOME first',
    { SVC_HOME: '/a', CONFIGURATION_DIRECTORY: '/etc/svc', STATE_DIRECTORY: '/var/lib/svc', HOME: '/h' },
    '/a/config',
    '/a/state',
  ],
  [
    'then systemd',
    {
      CONFIGURATION_DIRECTORY: '/etc/svc',
      STATE_DIRECTORY: '/var/lib/svc',
      XDG_CONFIG_HOME: '/x',
      HOME: '/h',
    },
    '/etc/svc',
    '/var/lib/svc',
  ],
  [
    'several systemd folders',
    { CONFIGURATION_DIRECTORY: '/etc/svc:/etc/b', STATE_DIRECTORY: '/v:/w' },
    '/etc/svc',
    '/v',
  ],
  ['then XDG', { XDG_CONFIG_HOME: '/x', XDG_STATE_HOME: '/s', HOME: '/h' }, '/x/svc', '/s/svc'],
  ['then HOME', { HOME: '/h' }, '/h/.config/svc', '/h/.local/state/svc'],
  ['each on its own', { STATE_DIRECTORY: '/v', HOME: '/h' }, '/h/.config/svc', '/v'],
  [
    'blank and relative ones do not count',
    { SVC_HOME: ' ', CONFIGURATION_DIRECTORY: 'etc', XDG_CONFIG_HOME: 'x', XDG_STATE_HOME: '', HOME: '/h' },
    '/h/.config/svc',
    '/h/.local/state/svc',
  ],
])('%s', (_title, env, config, state) => {
  expect(folderPaths(env)).toEqual({ config, state });
});

test('a relative SVC_HOME is relative to the working folder', () => {
  expect(folderPaths({ SVC_HOME: 'x' })).toEqual({
    config: join(process.cwd(), 'x/config'),
    state: join(process.cwd(), 'x/state'),
  });
});

test('without any variable it reports what to set', () => {
  for (const env of [{}, { HOME: '' }, { HOME: 'relative' }]) {
    expect(() => folderPaths(env)).toThrow(SetupError);
  }
});

test('creates missing folders for the owner only; existing ones keep their mode', () => {
  const first = openFolders({ SVC_HOME: join(base, 'a', 'b') });
  expect([first.config, first.state].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
    '700',
    '700',
  ]);
  chmodSync(first.config, 0o755);
  openFolders({ SVC_HOME: join(base, 'a', 'b') });
  expect((statSync(first.config).mode & 0o777).toString(8)).toBe('755');
});

test('an unusable folder is an error with advice', () => {
  writeFileSync(join(base, 'config'), '');
  try {
    openFolders({ SVC_HOME: base });
    expect.fail('was opened');
  } catch (error) {
    expect(error).toBeInstanceOf(SetupError);
    expect((error as SetupError).message).toMatch(/configuration folder .*config cannot be used \(ENOTDIR\)/);
    expect((error as SetupError).advice).toMatch(/chown|SVC_HOME/);
  }
});

test.runIf(process.getuid?.() === 0)('the advice for a command depends on the owner of the folder', () => {
  const folder = join(base, 'config');
  writeFileSync(folder, '');
  const advice = (opener: 'gateway' | 'command') => {
    try {
      openFolders({ SVC_HOME: base }, opener);
    } catch (error) {
      return (error as SetupError).advice;
    }
    return null;
  };
  expect(advice('command')).toContain('chown');
  chownSync(folder, 65_534, 65_534);
  expect(advice('command')).toBe('use sudo, or run the command as the service user');
  expect(advice('gateway')).toContain('chown');
});

test('a read-only location is also an error', () => {
  expect(() => openFolders({ SVC_HOME: '/proc/svc' })).toThrow(SetupError);
});

test.runIf(process.getuid?.() !== 0)('a folder without write permission is an error', () => {
  openFolders({ SVC_HOME: base });
  chmodSync(join(base, 'state'), 0o500);
  expect(() => openFolders({ SVC_HOME: base })).toThrow(/state folder .*EACCES/);
  chmodSync(join(base, 'state'), 0o700);
});

test('a read-only command creates no folder, and refuses an unusable one', () => {
  const home = join(base, 'a');
  expect(existingFolders({ SVC_HOME: home })).toEqual({
    config: join(home, 'config'),
    state: join(home, 'state'),
  });
  expect(existsSync(home)).toBe(false);
  writeFileSync(join(base, 'config'), '');
  expect(() => existingFolders({ SVC_HOME: base })).toThrow(SetupError);
});
