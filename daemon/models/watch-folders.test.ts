import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MountGuard } from '../lib/fs/mount-guard.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { fileState } from './path-state.ts';
import { scanFolders } from './scan.ts';
import { FolderWatch, type WatchedPaths } from './watch-folders.ts';

/** A watch over real folders whose scan reads them like the registry. */
async function bench(folder = join(scratch(), 'models'), mountGuard = new MountGuard()) {
  const clock = { ms: 0 };
  let scans = 0;
  let watched: ReadonlyMap<string, WatchedPaths> = new Map();
  const scan = async () => {
    scans += 1;
    const { folders, files } = await scanFolders([folder], undefined, mountGuard);
    const found = files.map((file) => [file.path, fileState(file)] as const);
    watched = new Map([...folders].map(([each, states]) => [each, new Map([...states, ...found])]));
  };
  await scan();
  const watch = new FolderWatch({
    watched: () => watched,
    scan,
    mountGuard,
    log: recordedLog().log,
    now: () => clock.ms,
  });
  return { folder, watch, clock, rescan: scan, scans: () => scans - 1 };
}

const file = (folder: string, name: string) => join(folder, name);
const ready = () => {
  const folder = join(scratch(), 'models');
  mkdirSync(join(folder, 'maker'), { recursive: true });
  writeFileSync(file(folder, 'a.gguf'), 'GGUF');
  return folder;
};

describe('a change of the model folders is scanned', () => {
  test.each<[string, (folder: string) => void]>([
    ['a new file', (folder) => writeFileSync(file(folder, 'b.gguf'), 'GGUF')],
    ['a new file in a sub-folder', (folder) => writeFileSync(file(folder, 'maker/b.gguf'), 'GGUF')],
    ['a new sub-folder', (folder) => mkdirSync(file(folder, 'other'))],
    ['a removed file', (folder) => rmSync(file(folder, 'a.gguf'))],
    ['a renamed file', (folder) => renameSync(file(folder, 'a.gguf'), file(folder, 'z.gguf'))],
    ['a file that was replaced in place', (folder) => writeFileSync(file(folder, 'a.gguf'), 'GGUF and more')],
    ['a file of the same size with another time', (folder) => utimesSync(file(folder, 'a.gguf'), 5, 5)],
    ['a folder that vanished', (folder) => renameSync(folder, `${folder}-gone`)],
    [
      'another folder at the same path',
      (folder) => {
        renameSync(folder, `${folder}-gone`);
        mkdirSync(folder);
      },
    ],
  ])('%s', async (_, change) => {
    const { folder, watch, scans } = await bench(ready());
    expect(await watch.check()).toBe(false);
    change(folder);
    // The first check sees the change, the second that it has settled.
    await watch.check();
    await watch.check();
    expect(scans()).toBe(1);
    for (let count = 0; count < 3; count++) expect(await watch.check()).toBe(false);
    expect(scans()).toBe(1);
  });

  test.each<[string, (folder: string) => void]>([
    ['a folder that is created', (folder) => mkdirSync(folder)],
    [
      'a folder that is created with a file',
      (folder) => void mkdirSync(join(folder, 'x'), { recursive: true }),
    ],
    [
      'a link to a folder',
      (folder) => {
        mkdirSync(`${folder}-disk`);
        symlinkSync(`${folder}-disk`, folder);
      },
    ],
    ['a folder whose parent is created later', (folder) => mkdirSync(folder, { recursive: true })],
    [
      'a file at the path of the folder, which then is replaced by it',
      (folder) => {
        writeFileSync(folder, '');
        rmSync(folder);
        mkdirSync(folder);
      },
    ],
  ])('%s is scanned at once', async (_, appear) => {
    const { folder, watch, scans } = await bench();
    expect(await watch.check()).toBe(false);
    appear(folder);
    expect([await watch.check(), scans()]).toEqual([true, 1]);
    expect(await watch.check()).toBe(false);
  });
});

test('a file that is being copied is scanned when it has settled, or after half a minute', async () => {
  const { folder, watch, clock, scans } = await bench(ready());
  await watch.check();
  const grow = async (text: string) => {
    clock.ms += 4_000;
    writeFileSync(file(folder, 'b.gguf'), text);
    writeFileSync(file(folder, 'a.gguf'), text);
    return watch.check();
  };
  let text = 'G';
  for (let count = 0; count < 8; count++) {
    text += 'G';
    expect(await grow(text)).toBe(false);
  }
  text += 'G';
  expect(await grow(text)).toBe(true);
  expect(await grow(`${text}!`)).toBe(false);
  expect([await watch.check(), scans()]).toEqual([true, 2]);
});

test('a request for an unknown model scans at once, at most every two seconds', async () => {
  const { folder, watch, clock, scans } = await bench(ready());
  clock.ms = 10_000;
  writeFileSync(file(folder, 'b.gguf'), 'GGUF');
  expect([await watch.checkForRequest(), scans()]).toEqual([true, 1]);
  writeFileSync(file(folder, 'c.gguf'), 'GGUF');
  clock.ms += 1_000;
  expect([await watch.checkForRequest(), scans()]).toEqual([false, 1]);
  clock.ms += 1_500;
  expect([await watch.checkForRequest(), scans()]).toEqual([true, 2]);
  clock.ms += 3_000;
  expect(await watch.checkForRequest()).toBe(false);
});

test('a disk that does not respond is no change, and is scanned when it responds again', async () => {
  let isHanging = false;
  class HangingGuard extends MountGuard {
    override run<T>(folder: string, work: () => Promise<T>): Promise<T> {
      return isHanging ? Promise.reject(new Error('its disk does not answer')) : super.run(folder, work);
    }
  }
  const folder = ready();
  const { watch, scans } = await bench(folder, new HangingGuard());
  isHanging = true;
  expect([await watch.check(), await watch.check(), scans()]).toEqual([false, false, 0]);
  writeFileSync(file(folder, 'b.gguf'), 'GGUF');
  isHanging = false;
  await watch.check();
  await watch.check();
  expect(scans()).toBe(1);
});

test('a scan that does not record the new state is not repeated', async () => {
  const folder = ready();
  let scans = 0;
  const watched = new Map([[folder, new Map([[folder, '1:2:3']])]]);
  const watch = new FolderWatch({
    watched: () => watched,
    scan: async () => {
      scans += 1;
    },
    mountGuard: new MountGuard(),
    log: recordedLog().log,
  });
  for (let count = 0; count < 4; count++) await watch.check();
  expect(scans).toBe(1);
});

test('a file that appeared with the last scan and changes is scanned', async () => {
  const { folder, watch, scans } = await bench(ready());
  writeFileSync(file(folder, 'b.gguf'), 'GG');
  expect([await watch.check(), scans()]).toEqual([true, 1]);
  writeFileSync(file(folder, 'b.gguf'), 'GGUF');
  await watch.check();
  await watch.check();
  expect(scans()).toBe(2);
});

test('a folder that returns unchanged after another scan is scanned', async () => {
  const { folder, watch, rescan, scans } = await bench();
  mkdirSync(folder);
  expect([await watch.check(), scans()]).toEqual([true, 1]);
  renameSync(folder, `${folder}-away`);
  await rescan();
  renameSync(`${folder}-away`, folder);
  expect([await watch.check(), scans()]).toEqual([true, 3]);
});

test('checks at the same time share one', async () => {
  const { folder, watch, scans } = await bench(ready());
  writeFileSync(file(folder, 'b.gguf'), 'GGUF');
  expect(await Promise.all([watch.check(true), watch.check(true), watch.check(true)])).toEqual([
    true,
    true,
    true,
  ]);
  expect(scans()).toBe(1);
});

test('many folders are read in short operations, between which others use the disk', async () => {
  const folder = ready();
  for (let count = 0; count < 300; count++) mkdirSync(file(folder, `maker/${count}`));
  const guard = new MountGuard();
  const { watch } = await bench(folder, guard);
  const checked = watch.check();
  let others = 0;
  let isOver = false;
  void checked.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await guard.run(folder, async () => {});
    others += 1;
  }
  expect(await checked).toBe(false);
  // The last one may have ended after the check.
  expect(others).toBeGreaterThan(3);
});
