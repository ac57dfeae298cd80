import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NewFile } from './new-file.ts';

let folder: string;
const at = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(at(name), 'utf8');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-new-file-'));
  writeFileSync(at('old.txt'), 'old');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(...words: string[]) {
  for (const word of words) {
    yield word;
    if (word === 'broken') throw new Error('cut');
  }
}
const write = (path: string, force: boolean, ...words: string[]) =>
  NewFile.use(path, force, async (file) => file?.fill(pieces(...words), 100));

it('writes a new file, and removes it when it is not completed', async () => {
  expect(await write(at('new.txt'), false, 'a', 'b')).toBe(2);
  expect(text('new.txt')).toBe('ab');
  await expect(write(at('other.txt'), false, 'a', 'broken')).rejects.toThrow('connection closed');
  expect(readdirSync(folder).sort()).toEqual(['new.txt', 'old.txt']);
});

it('has no file under its name before it is complete', async () => {
  await NewFile.use(at('new.txt'), false, async (file) => {
    expect(existsSync(at('new.txt'))).toBe(false);
    await file?.fill(pieces('a'), 100);
    expect(readdirSync(folder).sort()).toEqual(['new.txt', 'old.txt']);
  });
});

it('does not replace a file that another program creates meanwhile', async () => {
  const writing = NewFile.use(at('new.txt'), false, async (file) => {
    writeFileSync(at('new.txt'), 'theirs');
    await file?.fill(pieces('ours'), 100);
  });
  await expect(writing).rejects.toThrow('already exists');
  expect([text('new.txt'), readdirSync(folder).sort()]).toEqual(['theirs', ['new.txt', 'old.txt']]);
});

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('leaves nothing behind when %s ends it', async (signal) => {
  const module = JSON.stringify(new URL('./new-file.ts', import.meta.url).href);
  const program = `const { NewFile } = await import(${module});
    await NewFile.create(${JSON.stringify(at('new.txt'))}, false);
    console.log('created');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(readdirSync(folder)).toHaveLength(2);
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([null, signal]);
  expect(readdirSync(folder)).toEqual(['old.txt']);
});

it('an existing file is not changed', async () => {
  await expect(write(at('old.txt'), false, 'new')).rejects.toThrow('pass --force');
  expect(text('old.txt')).toBe('old');
});

it('with force the old file stays until the new one is complete', async () => {
  for (const fail of [
    () => write(at('old.txt'), true, 'new', 'broken'),
    () => write(at('old.txt'), true, 'x'.repeat(101)),
    () => NewFile.use(at('old.txt'), true, () => Promise.reject(new Error('refused'))),
  ]) {
    await expect(fail()).rejects.toThrow();
    expect([text('old.txt'), readdirSync(folder)]).toEqual(['old', ['old.txt']]);
  }
  chmodSync(at('old.txt'), 0o640);
  expect(await write(at('old.txt'), true, 'new')).toBe(3);
  expect([text('old.txt'), readdirSync(folder)]).toEqual(['new', ['old.txt']]);
  expect(statSync(at('old.txt')).mode & 0o777).toBe(0o640);
});

it('a symlink is preserved, and a device is written directly', async () => {
  symlinkSync('old.txt', at('link.txt'));
  await write(at('link.txt'), true, 'new');
  expect([lstatSync(at('link.txt')).isSymbolicLink(), text('old.txt')]).toEqual([true, 'new']);
  await write('/dev/null', true, 'new');
  expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
});
