import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { drawnPng } from '../../test/harness/drawn-png.ts';
import { MAX_T, tValues } from '../../test/harness/timing-comparison.ts';
import { ImageCache } from './cache.ts';

let root: string;
let folder: string;

beforeEach(() => {
  root = scratch();
  folder = join(root, 'images');
});

const open = (more = {}) => new ImageCache({ folder, log: pino({ level: 'silent' }), ...more });
const png = (seed: number) => drawnPng({ width: 16, height: 16, seed });
const ids = () => readdirSync(folder).map((name) => name.slice(0, 36));
const bytesOf = async (cache: ImageCache, id: string) => {
  const opened = await cache.open(id);
  return opened && buffer(opened.stream);
};

test('an image is stored under its own id, readable by the owner only', async () => {
  const cache = open();
  const id = await cache.store(png(1));
  expect((await bytesOf(cache, id))?.equals(png(1))).toBe(true);
  expect(statSync(join(folder, `${id}.png`)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('I05 removes the oldest first, by number and bytes', async () => {
  const cache = open({ maxFiles: 3 });
  const stored: string[] = [];
  for (let n = 0; n < 5; n++) stored.push(await cache.store(png(n)));
  expect(ids().sort()).toEqual(stored.slice(2).sort());
  expect(await cache.open(stored[0] as string)).toBeNull();
  const tight = open({ maxBytes: png(1).length * 2 + 10 });
  const last = [await tight.store(png(8)), await tight.store(png(9))];
  expect(ids().sort()).toEqual(last.sort());
});

test('I05 concurrent writers never exceed the limit', async () => {
  const cache = open({ maxFiles: 4 });
  const counts: number[] = [];
  const writers = Array.from({ length: 40 }, async (_, n) => {
    await cache.store(png(n));
    counts.push(readdirSync(folder).filter((name) => name.endsWith('.png')).length);
  });
  await Promise.all(writers);
  expect(Math.max(...counts)).toBeLessThanOrEqual(4);
  expect(ids()).toHaveLength(4);
});

test('I05 an image that is being read stays readable to its end', async () => {
  const cache = open({ maxFiles: 1 });
  const opened = await cache.open(await cache.store(png(1)));
  await cache.store(png(2));
  expect(opened && (await buffer(opened.stream)).equals(png(1))).toBe(true);
});

test('a restart reads existing images by age and applies a smaller limit', async () => {
  const first = open();
  const stored = [await first.store(png(1)), await first.store(png(2)), await first.store(png(3))];
  for (const [at, id] of stored.entries()) utimesSync(join(folder, `${id}.png`), 1_000 + at, 1_000 + at);
  const reopened = open({ maxFiles: 3 });
  const newest = await reopened.store(png(4));
  expect(ids().sort()).toEqual([...stored.slice(1), newest].sort());
});

test('opens only ids of its own files', async () => {
  mkdirSync(folder);
  writeFileSync(join(root, 'secret'), 'secret');
  const id = '00000000-0000-4000-8000-00000000000a';
  symlinkSync(join(root, 'secret'), join(folder, `${id}.png`));
  writeFileSync(join(folder, '00000000-0000-4000-8000-00000000000b.png'), '<svg/>');
  mkdirSync(join(folder, '00000000-0000-4000-8000-00000000000c.png'));
  const cache = open();
  const names = [
    id,
    id.replace('a', 'b'),
    id.replace('a', 'c'),
    '../secret',
    `../images/${id}`,
    '',
    `${id}\n`,
    id.toUpperCase(),
  ];
  for (const name of names) expect(await cache.open(name), name).toBeNull();
  expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('secret');
});

test('special files under the name of an image count as absent', async () => {
  const cache = open();
  const id = await cache.store(png(1));
  const [fifo, link, socket] = ['d', 'e', 'f'].map((last) => `00000000-0000-4000-8000-00000000000${last}`);
  execFileSync('mkfifo', [join(folder, `${fifo}.png`)]);
  symlinkSync('/dev/zero', join(folder, `${link}.png`));
  const server = createServer().listen(join(folder, `${socket}.png`));
  await once(server, 'listening');
  // More than the threads of the pool.
  const opened = await Promise.all(
    [...new Array(8).fill(fifo), link, socket].map((each) => cache.open(each)),
  );
  expect(opened).toEqual(new Array(10).fill(null));
  expect((await bytesOf(cache, id))?.equals(png(1))).toBe(true);
  server.close();
});

test('a folder that is not writable is reported, and later requests are served', async () => {
  writeFileSync(folder, 'in the way');
  const cache = open();
  await expect(cache.store(png(1))).rejects.toMatchObject({
    code: 'image.no_room',
    status: 503,
    cause: { code: 'EEXIST' },
  });
  rmSync(folder);
  expect(await cache.store(png(1))).toMatch(/^[0-9a-f-]{36}$/);
});

test('I02 an unknown id takes the same time, however similar to a known one', async () => {
  const cache = open();
  const near = (await cache.store(png(1))).replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  const far = '00000000-0000-4000-8000-000000000000';
  const duration = async (which: 0 | 1) => {
    const startedAt = process.hrtime.bigint();
    await cache.open(which === 0 ? near : far);
    return Number(process.hrtime.bigint() - startedAt);
  };
  for (const id of [near, far]) expect(await cache.open(id)).toBeNull();
  const measured = await tValues('images-cache', 20_000, duration);
  expect(measured.at(-1), `t of each try: ${measured}`).toBeLessThan(MAX_T);
});
