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

test('temporary files of ended processes and of this one are removed, all else stays', async () => {
  const kept = ['api.env', '.api.env', '.api.env.1.tmp', `api.env.1.${HEX}.tmp`, `.api.env.x.${HEX}.tmp`];
  for (const name of kept) put(name);
  put(`.api.env.4194999.${HEX}.tmp`);
  put(`.config.toml.${process.pid}.${HEX}.tmp`);
  mkdirSync(join(folder, `.folder.4194999.${HEX}.tmp`));
  symlinkSync('api.env', join(folder, `.link.4194999.${HEX}.tmp`));
  expect(await sweepTemps(folder)).toBe(2);
  expect(readdirSync(folder).sort()).toEqual(
    [...kept, `.folder.4194999.${HEX}.tmp`, `.link.4194999.${HEX}.tmp`].sort(),
  );
});

test('a file of a running process is kept until it is ten minutes old', async () => {
  const name = `.api.env.${process.ppid}.${HEX}.tmp`;
  put(name);
  expect(await sweepTemps(folder)).toBe(0);
  const old = new Date(Date.now() - 11 * 60_000);
  utimesSync(join(folder, name), old, old);
  expect(await sweepTemps(folder)).toBe(1);
});

test('a finished temporary file is recognised by the sweep', async () => {
  await writeTemp(join(folder, 'api.env'), Buffer.from('x'), { mode: 0o600 });
  expect(readdirSync(folder)).toHaveLength(1);
  expect(await sweepTemps(folder)).toBe(1);
});
