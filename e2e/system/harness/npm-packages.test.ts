import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LockFile, unlockedPackages } from './npm-packages.ts';

const lockOf = (packages: LockFile['packages']): LockFile => ({ packages });

describe('unlockedPackages', () => {
  const lock = lockOf({
    '': {},
    'node_modules/a': { integrity: 'sha512-a' },
    'node_modules/b': { integrity: 'sha512-b' },
    'node_modules/linked': {},
  });

  it('accepts a part of the lock file', () => {
    expect(unlockedPackages(lockOf({ 'node_modules/a': { integrity: 'sha512-a' } }), lock)).toEqual([]);
    expect(unlockedPackages(lockOf({}), lock)).toEqual([]);
  });

  it.each([
    ['another hash', { 'node_modules/a': { integrity: 'sha512-b' } }, ['node_modules/a']],
    [
      'another place',
      { 'node_modules/a/node_modules/b': { integrity: 'sha512-b' } },
      ['node_modules/a/node_modules/b'],
    ],
    ['an unknown package', { 'node_modules/c': { integrity: 'sha512-c' } }, ['node_modules/c']],
    ['no hash', { 'node_modules/linked': {} }, ['node_modules/linked']],
  ])('names %s', (_, packages, names) => {
    expect(unlockedPackages(lockOf(packages), lock)).toEqual(names);
  });
});

const SYSTEM = join(import.meta.dirname, '..');
const LOCK_FILES = globSync('**/package-lock.json', { cwd: SYSTEM, exclude: ['**/node_modules/**'] });

it.each(LOCK_FILES)('%s has exact versions, a hash for each package and no address of a registry', (path) => {
  const text = readFileSync(join(SYSTEM, path), 'utf8');
  const { packages } = JSON.parse(text) as LockFile;
  const manifest = JSON.parse(readFileSync(join(SYSTEM, path, '..', 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const exact = Object.values(manifest.dependencies).every((version) => /^\d+\.\d+\.\d+$/.test(version));
  const entries = Object.entries(packages).filter(([name]) => name !== '');
  expect(exact).toBe(true);
  expect(entries.filter(([, { integrity }]) => !integrity).map(([name]) => name)).toEqual([]);
  expect(entries.filter(([, { resolved }]) => resolved?.startsWith('http')).map(([name]) => name)).toEqual(
    [],
  );
});
