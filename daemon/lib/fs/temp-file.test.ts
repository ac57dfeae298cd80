import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { sweepTemps, writeTemp } from './temp-file.ts';

let folder = '';
beforeEach(() => {
  folder = scratch();
});

const HEX = '0123456789abcdef';
const put = (name: string) => writeFileSync(join(folder, name), '');

test('removes temporary files of ended processes and of this one, and nothing else', async () => {
  const unrelated = [
    'api.env',
    '.api.env',
    '.api.env.1.tmp',
    `api.env.1.${HEX}.tmp`,
    `.api.env.x.${HEX}.tmp`,
  ];
  for (const name of unrelated) put(name);
  put(`.api.env.4194999.${HEX}.tmp`);
  put(`.config.toml.${process.pid}.${HEX}.tmp`);
  mkdirSync(join(folder, `.folder.4194999.${HEX}.tmp`));
  symlinkSync('api.env', join(folder, `.link.4194999.${HEX}.tmp`));
  expect(await sweepTemps(folder)).toBe(2);
  expect(readdirSync(folder).sort()).toEqual(
    [...unrelated, `.folder.4194999.${HEX}.tmp`, `.link.4194999.${HEX}.tmp`].sort(),
  );
});

test('keeps a file of a running process until it is ten minutes old', async () => {
  const name = `.api.env.${process.ppid}.${HEX}.tmp`;
  put(name);
  expect(await sweepTemps(folder)).toBe(0);
  const old = new Date(Date.now() - 11 * 60_000);
  utimesSync(join(folder, name), old, old);
  expect(await sweepTemps(folder)).toBe(1);
});

test('the sweep recognises a finished temporary file', async () => {
  await writeTemp(join(folder, 'api.env'), Buffer.from('x'), { mode: 0o600 });
  expect(readdirSync(folder)).toHaveLength(1);
  expect(await sweepTemps(folder)).toBe(1);
});
