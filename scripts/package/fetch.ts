import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Module } from './modules.ts';

/** Whether these bytes are what the lockfile pins (`sha512-<base64>`). */
export function isPinned(bytes: Buffer, integrity: string): boolean {
  const [algorithm = '', sum = ''] = integrity.split('-');
  return algorithm === 'sha512' && createHash('sha512').update(bytes).digest('base64') === sum;
}

/**
 * Returns the unpacked folder of a package that npm does not install on this machine, because it is for
 * another processor. Downloads it once through npm and checks it against the lockfile. Throws with the
 * failure.
 */
export function fetchPackage(root: string, { name, version, integrity }: Module): string {
  const folder = join(root, '.cache', 'packages', `${name.replace('/', '+')}-${version}`);
  if (existsSync(join(folder, 'package.json'))) return folder;
  const unfinished = `${folder}.tmp`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const npm = spawnSync('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', unfinished], {
    encoding: 'utf8',
    timeout: 600_000,
  });
  const archive = readdirSync(unfinished).find((file) => file.endsWith('.tgz'));
  if (npm.status !== 0 || archive === undefined) {
    throw new Error(`${name}@${version} could not be fetched: ${npm.stderr.trim() || 'npm pack failed'}`);
  }
  const file = join(unfinished, archive);
  if (!isPinned(readFileSync(file), integrity))
    throw new Error(`${name}@${version} is not what the lockfile pins`);
  const unpacked = spawnSync('tar', ['-xzf', file, '-C', unfinished, '--strip-components=1'], {
    encoding: 'utf8',
  });
  if (unpacked.status !== 0)
    throw new Error(`${name}@${version} could not be unpacked: ${unpacked.stderr.trim()}`);
  rmSync(file);
  renameSync(unfinished, folder);
  return folder;
}
