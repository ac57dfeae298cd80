import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { SlotFiles } from './slot-files.ts';

let root: string;
let files: SlotFiles;
beforeEach(() => {
  root = scratch();
  files = new SlotFiles(root);
});

it('edits of one folder run one after the other, and none is lost', async () => {
  const edits = Array.from({ length: 20 }, (_, n) => files.write('a', (text) => `${text ?? ''}${n}\n`));
  await Promise.all(edits);
  expect(readFileSync(join(root, 'a.toml'), 'utf8')).toBe(
    Array.from({ length: 20 }, (_, n) => `${n}\n`).join(''),
  );
  expect(readdirSync(root)).toEqual(['a.toml']);
});

it('an edit that throws changes nothing and does not block others', async () => {
  writeFileSync(join(root, 'a.toml'), 'before');
  const refused = files.write('a', () => {
    throw new Error('no');
  });
  const next = files.write('a', (text) => `${text} and after`);
  await expect(refused).rejects.toThrow('no');
  await next;
  expect(readFileSync(join(root, 'a.toml'), 'utf8')).toBe('before and after');
});

it('does not follow a link out of the folder, and does not read a file that is not text', async () => {
  symlinkSync('/etc/hostname', join(root, 'a.toml'));
  await expect(files.write('a', () => 'x')).rejects.toThrow('symbolic link');
  writeFileSync(join(root, 'b.toml'), Buffer.from([0xff, 0xfe]));
  await expect(files.write('b', () => 'x')).rejects.toThrow('UTF-8');
});

it('removes a file once', async () => {
  writeFileSync(join(root, 'a.toml'), '');
  expect([await files.remove('a'), await files.remove('a')]).toEqual([true, false]);
});
