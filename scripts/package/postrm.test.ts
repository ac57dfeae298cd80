/** The effects of a purge, on test folders that replace those of the system. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = readFileSync(join(import.meta.dirname, '..', '..', 'packaging', 'debian', 'postrm'), 'utf8');
const FOLDERS = ['/etc/svc', '/var/lib/svc', '/var/cache/svc', '/usr/lib/svc-gateway'];

/** Arguments of `unshare` for a shell with private mounts. */
const apart = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user'];
const mayMount = spawnSync('unshare', [...apart, 'mount', '-t', 'tmpfs', 'disk', tmpdir()]).status === 0;
if (!mayMount) console.warn('SKIPPED, nothing can be mounted here: a purge with a disk among the models');

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-postrm-'));
  for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(root, 'var/lib/svc/models'));
  for (const file of ['etc/svc/api.env', 'var/lib/svc/svc.db']) writeFileSync(join(root, file), '');
  // Nothing else of this machine is within its reach.
  mkdirSync(join(root, 'bin'));
  symlinkSync('/bin/rm', join(root, 'bin', 'rm'));
  const moved = script.replace(/ (\/(?:etc|usr|var)\/)/g, ` ${root}$1`);
  writeFileSync(join(root, 'postrm'), moved);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const there = () => FOLDERS.filter((folder) => existsSync(join(root, folder)));
const LINE = `PATH="$0/bin" exec /bin/sh "$0/postrm" "$1"`;
const run = (word: string) => spawnSync('/bin/sh', ['-c', LINE, root, word], { encoding: 'utf8' });

describe('the script after a removal', () => {
  it('names no folder that this test does not put elsewhere', () => {
    const named = [...script.matchAll(/\/(?:etc|usr|var)\/[\w/-]+/g)].map(([path]) => path);
    expect([...new Set(named)].sort()).toEqual([...FOLDERS].sort());
  });

  it('leaves configuration and state after remove, nothing after purge', () => {
    expect(run('remove').status).toBe(0);
    expect(there()).toEqual(['/etc/svc', '/var/lib/svc', '/var/cache/svc']);
    expect(run('purge').status).toBe(0);
    expect(there()).toEqual([]);
  });

  it.skipIf(!mayMount)('continues after a folder that contains a mounted disk, and reports it', () => {
    const mounted = `mount -t tmpfs disk "$0/var/lib/svc/models" && : > "$0/var/lib/svc/models/a.gguf" && ${LINE}`;
    const { status, stderr } = spawnSync('unshare', [...apart, '/bin/sh', '-c', mounted, root, 'purge'], {
      encoding: 'utf8',
    });
    expect(stderr).toContain(`something of ${root}/var/lib/svc is still there`);
    expect(status).toBe(0);
    expect(there()).toEqual(['/var/lib/svc']);
    expect(existsSync(join(root, 'var/lib/svc/svc.db'))).toBe(false);
  });
});
