/** What a checkout needs before its first start, in a checkout of this test with its own package. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PREPARE = `import { prepare } from './scripts/prepare.mjs'; prepare({ build: false });`;

let root = '';
const at = (...path: string[]) => join(root, ...path);
const json = (path: string, value: unknown) => writeFileSync(at(path), JSON.stringify(value));
const prepare = (env: Record<string, string> = {}) =>
  spawnSync(process.execPath, ['--input-type=module', '-e', PREPARE], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: root, ...env },
    encoding: 'utf8',
  });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-prepare-'));
  for (const folder of ['scripts', 'tool', 'bin']) mkdirSync(at(folder));
  copyFileSync(join(import.meta.dirname, 'prepare.mjs'), at('scripts', 'prepare.mjs'));
  const parts = { name: 'checkout', version: '1.0.0', devDependencies: { tool: 'file:tool' } };
  json('package.json', parts);
  json('tool/package.json', { name: 'tool', version: '1.0.0' });
  json('package-lock.json', {
    ...{ name: 'checkout', version: '1.0.0', lockfileVersion: 3, requires: true },
    packages: {
      '': parts,
      'node_modules/tool': { resolved: 'tool', link: true },
      tool: { version: '1.0.0', dev: true },
    },
  });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a checkout', () => {
  it.each<Record<string, string>>([{}, { NODE_ENV: 'production' }, { NPM_CONFIG_OMIT: 'dev' }])(
    'gets the tools that build the dashboard under %j',
    (env) => {
      expect(prepare(env)).toMatchObject({ status: 0, stderr: '' });
      expect(existsSync(at('node_modules', 'tool', 'package.json'))).toBe(true);
    },
  );

  it('is installed again after an aborted installation, whatever the lockfile contains then', () => {
    expect(prepare().status).toBe(0);
    const lockfile = at('package-lock.json');
    copyFileSync(lockfile, at('kept.json'));
    writeFileSync(lockfile, '{}');
    // STAND-IN for npm: it has started to remove packages when it fails.
    writeFileSync(at('bin', 'npm'), '#!/bin/sh\nrm -r node_modules/tool\nexit 1\n', { mode: 0o755 });
    expect(prepare({ PATH: `${at('bin')}:${process.env.PATH}` })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('npm ci failed.'),
    });
    copyFileSync(at('kept.json'), lockfile);
    expect(prepare().status).toBe(0);
    expect(existsSync(at('node_modules', 'tool', 'package.json'))).toBe(true);
  });
});
