import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { backUp, forged, fullHome, gzipped, home, outside, restoreHome } from './testing/bench.ts';

describe('hostile archives', () => {
  const row = (name: string, content: Buffer | string, size?: number) => ({
    name,
    size: size ?? content.length,
    sha256: '0'.repeat(64),
  });
  const manifest = (files: object[] = [], more: object = {}) => ({
    name: 'manifest.json',
    content: Buffer.from(
      JSON.stringify({
        format: 1,
        product: 'svc-gateway',
        version: '1',
        made_at: 'now',
        schema: 1,
        keys: true,
        files,
        ...more,
      }),
    ),
  });
  const config = Buffer.from('[server]\n');
  const named = [row('config/config.toml', config)];

  it.each([
    ['a path out of its folder', [manifest([row('../../etc/cron.d/x', config)])], 'an unexpected file'],
    ['an absolute path', [manifest([row('/etc/passwd', config)])], 'an unexpected file'],
    ['a path with dots inside', [manifest([row('config/slots/../../x.toml', config)])], 'an unexpected file'],
    ['a hidden slot', [manifest([row('config/slots/.x.toml', config)])], 'an unexpected file'],
    ['the signing secret', [manifest([row('state/secret.bin', config)])], 'an unexpected file'],
    ['a duplicate name in its list', [manifest([...named, ...named])], 'twice'],
    ['a huge file', [manifest([row('config/config.toml', config, 2 ** 40)])], 'too large'],
    [
      'keys although its list excludes them',
      [manifest([row('config/api.env', config)], { keys: false })],
      'declares none',
    ],
    ['no list', [{ name: 'config/config.toml', content: config }], 'does not start with its file list'],
    ['a list that is a link', [{ name: 'manifest.json', type: '2' }], 'does not start with its file list'],
    ['a list that is not JSON', [{ name: 'manifest.json', content: config }], 'cannot be read'],
    [
      'a member that is not in its list',
      [manifest(), { name: '../x', content: config }],
      'not in its file list',
    ],
    ['a symbolic link', [manifest(named), { name: 'config/config.toml', type: '2' }], 'not a regular file'],
    ['a hard link', [manifest(named), { name: 'config/config.toml', type: '1' }], 'not a regular file'],
    ['a device', [manifest(named), { name: 'config/config.toml', type: '3' }], 'not a regular file'],
    ['a pipe', [manifest(named), { name: 'config/config.toml', type: '6' }], 'not a regular file'],
    ['a folder', [manifest(named), { name: 'config/', type: '5' }], 'not a regular file'],
    [
      'size differs',
      [manifest(named), { name: 'config/config.toml', content: Buffer.alloc(99) }],
      'size differs',
    ],
    [
      'a wrong checksum',
      [manifest(named), { name: 'config/config.toml', content: config }],
      'checksum mismatch',
    ],
    ['less than its list contains', [manifest(named)], 'lacks config/config.toml'],
  ])('%s is refused and nothing changes', async (_, members, message) => {
    const to = fullHome();
    const before = to.snapshot();
    const file = gzipped(outside('b.tar.gz'), forged(members));
    const refused = restoreHome(to, file);
    await expect(refused).rejects.toMatchObject({
      code: 'restore.invalid',
      message: expect.stringContaining(message),
    });
    rmSync(file);
    expect(to.snapshot()).toEqual(before);
  });

  it('a member twice is refused', async () => {
    const to = fullHome();
    const from = fullHome();
    const file = join(from.root, 'b.tar.gz');
    await backUp(from, file);
    const bytes = gunzipSync(readFileSync(file));
    const at = bytes.indexOf('config/config.toml\0');
    const duplicated = Buffer.concat([bytes.subarray(0, at + 1024), bytes.subarray(at)]);
    await expect(restoreHome(to, gzipped(file, duplicated))).rejects.toMatchObject({
      code: 'restore.invalid',
    });
  });

  it('unpacking a decompression bomb stops at the size limit', async () => {
    const to = fullHome();
    const bomb = Buffer.alloc(64 << 20);
    const file = gzipped(join(to.root, 'b.gz'), forged([{ name: 'manifest.json', content: bomb }]));
    await expect(restoreHome(to, file)).rejects.toMatchObject({ code: 'restore.invalid' });
    expect(readdirSync(to.folders.state)).not.toContain('restore.staging');
  });

  it('without disk space nothing is started', async ({ skip }) => {
    const from = fullHome();
    const file = outside('b.tar.gz');
    await backUp(from, file);
    const to = home();
    const mount = ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', to.folders.state];
    if (spawnSync('mount', mount).status !== 0) return skip('only root may mount a small disk');
    try {
      await expect(restoreHome(to, file)).rejects.toMatchObject({ code: 'restore.no_space' });
      expect(readdirSync(to.folders.state)).toEqual([]);
      expect(readdirSync(to.folders.config)).toEqual([]);
    } finally {
      spawnSync('umount', [to.folders.state]);
    }
  });

  it('newer formats and newer schemas are distinguished from damage', async () => {
    const to = fullHome();
    const file = join(to.root, 'b.gz');
    gzipped(file, forged([manifest([], { format: 2 })]));
    await expect(restoreHome(to, file)).rejects.toMatchObject({ code: 'restore.newer' });
    gzipped(file, forged([manifest([row('state/svc.db', config)], { schema: 9999 })]));
    await expect(restoreHome(to, file)).rejects.toMatchObject({ code: 'restore.newer' });
  });

  it('truncated at any position it is refused, and so are files that are not archives', async () => {
    const to = fullHome();
    const before = to.snapshot();
    const whole = outside('b.tar.gz');
    await backUp(to, whole);
    const bytes = readFileSync(whole);
    for (const share of [0, 0.001, 0.2, 0.5, 0.9, 0.999]) {
      writeFileSync(whole, bytes.subarray(0, Math.floor(bytes.length * share)));
      await expect(restoreHome(to, whole)).rejects.toMatchObject({ code: 'restore.invalid' });
    }
    for (const content of ['', 'not an archive', Buffer.alloc(4096, 7)]) {
      writeFileSync(whole, content);
      await expect(restoreHome(to, whole)).rejects.toMatchObject({ code: 'restore.invalid' });
    }
    rmSync(whole);
    for (const path of [whole, to.root, '/dev/null']) {
      await expect(restoreHome(to, path)).rejects.toMatchObject({ code: 'restore.invalid' });
    }
    expect(to.snapshot()).toEqual(before);
  });
});
