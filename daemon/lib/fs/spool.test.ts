import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { scratchOfFile } from '../testing/scratch.ts';
import { Spool, sweepSpools } from './spool.ts';

const home = scratchOfFile();

test('can be read repeatedly and has no name', async () => {
  const folder = join(home, 'spool');
  const spool = await Spool.open(folder);
  await spool.write([Buffer.from('hello '), Buffer.from('wo')]);
  await spool.write([Buffer.from('rld')]);
  expect(readdirSync(folder)).toEqual([]);
  for (let time = 0; time < 2; time++) expect((await buffer(spool.stream())).toString()).toBe('hello world');
  spool.stream().destroy();
  const destroyed = spool.stream();
  destroyed.on('error', () => {});
  expect((await spool.read(6, 100)).toString()).toBe('world');
  await spool.close();
  await spool.close();
  expect(destroyed.destroyed).toBe(true);
});

test('a stream that is destroyed early or at its end does not affect the next one', async () => {
  const spool = await Spool.open(join(home, 'again'));
  await spool.write([Buffer.alloc(1 << 20, 'x')]);
  const destroyed = spool.stream();
  await new Promise((resolve) => destroyed.once('readable', resolve));
  destroyed.destroy();
  const whole = spool.stream();
  expect((await buffer(whole)).length).toBe(1 << 20);
  whole.destroy();
  expect((await buffer(spool.stream())).length).toBe(1 << 20);
  await spool.close();
  const late = spool.stream();
  await expect(buffer(late)).rejects.toThrow();
});

test('sweeps leftovers and no other files', async () => {
  const folder = join(home, 'left');
  await (await Spool.open(folder)).close();
  writeFileSync(join(folder, 'ab'.repeat(12)), 'left');
  writeFileSync(join(folder, 'keep.txt'), 'other');
  await sweepSpools(folder);
  expect(readdirSync(folder)).toEqual(['keep.txt']);
  await sweepSpools(join(home, 'absent'));
});
