import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { archivePath } from './archive-path.ts';
import { backUp, fullHome } from './testing/bench.ts';

let folder = '';
const at = (name: string) => join(folder, name);
beforeEach(() => {
  folder = realpathSync(scratch());
  mkdirSync(at('disk'));
  writeFileSync(at('disk/monday.tar.gz'), 'old');
  symlinkSync('disk/monday.tar.gz', at('latest.tar.gz'));
  symlinkSync('nowhere', at('dangling'));
  spawnSync('mkfifo', [at('pipe')]);
  symlinkSync('pipe', at('to-pipe'));
});

describe('the path of an archive', () => {
  it.each([
    ['new.tar.gz', 'new.tar.gz'],
    ['disk/monday.tar.gz', 'disk/monday.tar.gz'],
    ['latest.tar.gz', 'disk/monday.tar.gz'],
  ])('%s is at %s', async (name, path) => {
    expect(await archivePath(at(name))).toBe(at(path));
  });

  it.each([
    ['dangling', /broken symlink/],
    ['pipe', /a device or a pipe/],
    ['to-pipe', /a device or a pipe/],
    ['disk', /a folder/],
    ['/dev/null', /a device/],
  ])('%s is refused', async (name, why) => {
    const path = archivePath(name.startsWith('/') ? name : at(name));
    await expect(path).rejects.toMatchObject({
      code: 'backup.write_failed',
      message: expect.stringMatching(why),
    });
  });
});

describe('a backup with --force', () => {
  it('replaces the file behind a link, and the link stays', async () => {
    await backUp(fullHome(), at('latest.tar.gz'), { force: true });
    expect(lstatSync(at('latest.tar.gz')).isSymbolicLink()).toBe(true);
    expect(readFileSync(at('disk/monday.tar.gz')).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  });

  it('never replaces a pipe', async () => {
    await expect(backUp(fullHome(), at('pipe'), { force: true })).rejects.toMatchObject({
      code: 'backup.write_failed',
    });
    expect(lstatSync(at('pipe')).isFIFO()).toBe(true);
  });
});
