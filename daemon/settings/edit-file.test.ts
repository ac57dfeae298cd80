import { mkdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { type EditOptions, editFile } from './edit-file.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = scratch();
  path = join(folder, 'f');
});
const text = () => readFileSync(path, 'utf8');
const add = (bytes: Buffer | null) => Buffer.concat([bytes ?? Buffer.from('new:'), Buffer.from('x')]);
const edit = (options: Partial<EditOptions> = {}, change = add) =>
  editFile(path, change, { maxBytes: 100, newMode: 0o600, keepMode: 0o644, ...options });

test('creates a new file, then edits it, each with its mode', async () => {
  expect(await edit()).toEqual({ bytes: Buffer.from('new:x'), durable: true });
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
  await edit();
  expect(text()).toBe('new:xx');
});

test('does not write unchanged content', async () => {
  writeFileSync(path, 'same');
  const before = statSync(path).ino;
  await edit({}, (bytes) => Buffer.from(bytes ?? ''));
  expect(statSync(path).ino).toBe(before);
});

test('F02 created, changed or removed in between: reads again and succeeds', async () => {
  for (const [act, expected] of [
    [() => writeFileSync(path, 'theirs:'), 'theirs:x'],
    [() => writeFileSync(path, 'again:'), 'again:x'],
    [() => unlinkSync(path), 'new:x'],
  ] as const) {
    let done = false;
    await edit({
      faults: (step) => {
        if (step === 'rename' && !done) {
          done = true;
          act();
        }
      },
    });
    expect(text()).toBe(expected);
  }
});

test('F02 changed repeatedly: gives up, and the other change stays', async () => {
  let turn = 0;
  const faults = (step: string) => {
    if (step === 'rename') writeFileSync(path, `theirs${++turn}`);
  };
  await expect(edit({ faults })).rejects.toMatchObject({ reason: 'changed' });
  expect([turn, text()]).toEqual([2, 'theirs2']);
});

test('does not edit an unreadable file, and rethrows an error of the edit', async () => {
  await expect(
    edit({}, () => {
      throw new RangeError('no');
    }),
  ).rejects.toThrow(RangeError);
  writeFileSync(path, 'x'.repeat(101));
  await expect(edit()).rejects.toMatchObject({ reason: 'io' });
  rmSync(path);
  mkdirSync(path);
  await expect(edit()).rejects.toMatchObject({ reason: 'io', message: 'f is not a regular file' });
});
