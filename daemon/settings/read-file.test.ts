import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { type FileRead, readFileCapped, sameRead } from './read-file.ts';

let folder = '';
beforeEach(() => {
  folder = scratch();
});
const at = (name: string) => join(folder, name);

test('bytes with mode and owner, up to the cap', async () => {
  writeFileSync(at('a'), '12345', { mode: 0o640 });
  const expected = { kind: 'bytes', bytes: Buffer.from('12345'), mode: 0o640, uid: process.getuid?.() };
  expect(await readFileCapped(at('a'), 5)).toEqual(expected);
  expect(await readFileCapped(at('a'), 4)).toEqual({ kind: 'unreadable', message: 'is larger than 4 bytes' });
});

test('missing, dangling, looping, in a missing folder', async () => {
  symlinkSync('nowhere', at('dangling'));
  symlinkSync('loop', at('loop'));
  writeFileSync(at('plain'), '');
  expect(await readFileCapped(at('no'), 9)).toEqual({ kind: 'missing' });
  expect(await readFileCapped(at('dangling'), 9)).toEqual({
    kind: 'unreadable',
    message: 'is a link to a file that does not exist',
  });
  expect(await readFileCapped(at('loop'), 9)).toEqual({
    kind: 'unreadable',
    message: 'cannot be read (ELOOP)',
  });
  expect(await readFileCapped(at('plain/x'), 9)).toEqual({
    kind: 'unreadable',
    message: 'cannot be read (ENOTDIR)',
  });
});

test('a folder, a pipe and a device are not files, and none of them blocks', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  for (const path of [folder, at('pipe'), '/dev/zero']) {
    expect(await readFileCapped(path, 9)).toEqual({ kind: 'unreadable', message: 'is not a regular file' });
  }
});

test('a file that reports size 0 but returns more than the cap is unreadable', async () => {
  expect(await readFileCapped('/proc/self/status', 100)).toEqual({
    kind: 'unreadable',
    message: 'is larger than 100 bytes',
  });
});

test('two readings are equal by content and mode', () => {
  const bytes = (text: string, mode = 0o600): FileRead => ({
    kind: 'bytes',
    bytes: Buffer.from(text),
    mode,
    uid: 0,
  });
  const bad = (message: string): FileRead => ({ kind: 'unreadable', message });
  const missing: FileRead = { kind: 'missing' };
  expect([
    sameRead(bytes('a'), bytes('a')),
    sameRead(bad('x'), bad('x')),
    sameRead(missing, missing),
  ]).toEqual([true, true, true]);
  expect([
    sameRead(bytes('a'), bytes('b')),
    sameRead(bytes('a'), bytes('a', 0o644)),
    sameRead(bad('x'), bad('y')),
    sameRead(missing, bytes('')),
  ]).toEqual([false, false, false, false]);
});
