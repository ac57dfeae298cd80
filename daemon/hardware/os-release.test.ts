import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchOfFile } from '../lib/testing/scratch.ts';
import { osName, readOsName } from './os-release.ts';

const folder = scratchOfFile();

it.each([
  [
    'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\n',
    'Debian GNU/Linux 12',
  ],
  ['NAME=Fedora\nVERSION_ID=41\n', 'Fedora 41'],
  ["NAME='Arch Linux'\nBUILD_ID=rolling\n", 'Arch Linux'],
  ['NAME="A \\"quoted\\" one"\n', 'A "quoted" one'],
  ['# NAME=commented\nVERSION_ID=1\n', null],
  ['', null],
])('%j is %j', (text, name) => {
  expect(osName(text)).toBe(name);
});

it('uses the first file with a name', async () => {
  const [absent, empty, named] = ['absent', 'empty', 'named'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(empty, '');
  writeFileSync(named, 'NAME=Void\n');
  expect(await readOsName([absent, empty, named])).toBe('Void');
  expect(await readOsName([absent, folder])).toBeNull();
});
