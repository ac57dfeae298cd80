import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { readSmallFile } from './read-small-file.ts';

let path: string;
beforeEach(() => {
  path = join(scratch(), 'file');
});

test('a file up to the cap', () => {
  writeFileSync(path, 'abc');
  expect(readSmallFile(path, 3)).toEqual(Buffer.from('abc'));
  expect(readSmallFile(path, 2)).toBeNull();
});

test('returns null for a folder and a pipe', () => {
  mkdirSync(`${path}.d`);
  execFileSync('mkfifo', [path]);
  expect(readSmallFile(`${path}.d`, 9)).toBeNull();
  expect(readSmallFile(path, 9)).toBeNull();
});

test('throws the error code for a missing file', () => {
  expect(() => readSmallFile(path, 9)).toThrow('ENOENT');
});
