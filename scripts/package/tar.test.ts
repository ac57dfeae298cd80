import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { textEntry } from './entry.ts';
import { tar } from './tar.ts';

const LONG = `${'folder-with-a-name/'.repeat(9)}file.txt`;
const ENTRIES = [
  textEntry('b/program', '#!/bin/sh\n', 0o755),
  textEntry('a.txt', 'x'.repeat(512)),
  textEntry('b/ä.txt', 'empty follows'),
  textEntry('b/empty', ''),
  textEntry(LONG, 'far down'),
];
const archive = (entries = ENTRIES, root = './') => Buffer.concat([...tar(entries, 1_700_000_000, root)]);
const gnuTar = (args: string[], input: Buffer) =>
  spawnSync('tar', args, { input, encoding: 'utf8', env: { ...process.env, TZ: 'UTC', LC_ALL: 'C.UTF-8' } });

it('the tar of the system lists owners, modes and times, folders before what is in them', () => {
  const lines = gnuTar(['-tv', '--full-time'], archive()).stdout.trim().split('\n');
  const rows = lines.map((line) => line.replace(/\s+/g, ' ').replace('2023-11-14 22:13:20', '@'));
  expect(rows).toContain('drwxr-xr-x root/root 0 @ ./');
  expect(rows).toContain('-rw-r--r-- root/root 512 @ ./a.txt');
  expect(rows).toContain('-rwxr-xr-x root/root 10 @ ./b/program');
  expect(rows).toContain(`-rw-r--r-- root/root 8 @ ./${LONG}`);
  const names = rows.map((row) => row.split(' ').at(-1));
  expect(names.indexOf('./b/')).toBeLessThan(names.indexOf('./b/program'));
});

it('every byte is restored, also of names beyond 100 bytes and beyond ASCII', () => {
  for (const { path, body } of ENTRIES) {
    const { status, stdout } = gnuTar(['-xO', `./${path}`], archive());
    expect({ path, status, stdout }).toEqual({ path, status: 0, stdout: String(body) });
  }
});

it('the order in which files were found does not count', () => {
  expect(archive([...ENTRIES].reverse()).equals(archive())).toBe(true);
});
