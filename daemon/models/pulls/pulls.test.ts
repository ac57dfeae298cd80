import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { tinyChat } from '../gguf/tiny-chat.ts';
import { encodeGguf, str } from '../gguf/writer.ts';
import { FILE, PullHub, REPO, WEIGHTS } from '../testing/pull-hub.ts';

const here = new PullHub();
const { open, onDisk } = here;
const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Starts a pull, pauses it halfway and returns how many bytes it had. */
async function paused(): Promise<{ id: string; had: number }> {
  await open();
  here.hub.fault = { slowMs: 20 };
  const { id } = await here.bench.pull(REPO);
  await expect.poll(() => here.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
  await here.bench.pulls.pause(id);
  const had = here.hub.sent();
  return { id, had };
}

describe('a pull', () => {
  test('ends as a registered model with its licence, commit and digest', async () => {
    await open();
    const { id } = await here.bench.pull(`${REPO}:q4_k_m`);
    const done = await here.bench.until(id, 'done', 'failed');
    expect(done).toMatchObject({
      state: 'done',
      repo: REPO,
      file: FILE,
      bytes: WEIGHTS.length,
      total: WEIGHTS.length,
      revision: here.hub.commit(REPO),
      error: null,
      model: 'tiny-chat.Q4_K_M',
    });
    expect(readFileSync(join(here.bench.models, REPO, FILE))).toEqual(WEIGHTS);
    expect(onDisk().sort()).toEqual(
      [`${REPO}/${FILE}`, ...onDisk().filter((name) => !name.includes('/'))].sort(),
    );
    expect(here.bench.registry.views().find(({ id: model }) => model === done.model)).toMatchObject({
      source: 'pull',
      licence: 'mit',
      repo: REPO,
      revision: here.hub.commit(REPO),
      sha256: sum(WEIGHTS),
      demo: false,
    });
    expect(here.bench.events.map(({ state }) => state)).toEqual(
      expect.arrayContaining(['queued', 'running', 'verifying', 'done']),
    );
    await expect(here.bench.pull(`${REPO}:Q4_K_M`)).rejects.toMatchObject({
      code: 'model.exists',
      options: { details: { model: done.model } },
    });
  });

  test('DL01 resumes cut connections at the exact byte', async () => {
    await open();
    here.hub.fault = { cutAfter: 100_000 };
    const { id } = await here.bench.pull(REPO);
    expect(await here.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(here.hub.sent()).toBe(WEIGHTS.length);
    const ranges = here.hub.requests.filter(({ range }) => range !== undefined);
    expect(ranges.length).toBeGreaterThan(2);
    expect(ranges.every(({ ifRange }) => ifRange !== undefined)).toBe(true);
  });

  test('DL01 starts again when the server does not support ranges', async () => {
    const { id, had } = await paused();
    here.hub.fault = { ignoresRanges: true };
    await here.bench.pulls.resume(id);
    expect(await here.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(here.hub.sent() - had).toBe(WEIGHTS.length);
  });

  test('DL01 starts again when the content has another entity tag', async () => {
    const { id, had } = await paused();
    here.hub.fault = { etag: 'another' };
    await here.bench.pulls.resume(id);
    expect(await here.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(here.hub.sent() - had).toBe(WEIGHTS.length);
    expect(here.hub.requests.at(-1)).toMatchObject({ range: expect.stringMatching(/^bytes=[1-9]\d*-$/) });
  });

  test('downloads all parts of a split model, and a projector on request', async () => {
    const [first, second] = [WEIGHTS.subarray(0, 300_000), Buffer.alloc(6_000, 7)];
    here.hub.repos[REPO] = {
      files: {
        'big-Q8_0-00001-of-00002.gguf': first,
        'big-Q8_0-00002-of-00002.gguf': second,
        'mmproj-big-f16.gguf': Buffer.alloc(5_000, 1),
        'mmproj-big-f32.gguf': Buffer.alloc(9_000, 1),
      },
    };
    await open();
    const record = await here.bench.pull(`${REPO}:Q8_0`, { projector: true });
    expect(record).toMatchObject({ files: 3, total: 311_000, file: 'big-Q8_0-00001-of-00002.gguf' });
    // The parts are no model, and none of them is visible under its name.
    expect(await here.bench.until(record.id, 'done', 'failed')).toMatchObject({
      state: 'failed',
      error: { code: 'pull.no_model' },
    });
    expect(existsSync(join(here.bench.models, REPO))).toBe(false);
    await here.bench.pulls.cancel(record.id);
    expect(onDisk().filter((name) => name.startsWith('.pulls'))).toEqual([]);
  });

  test('finds the projector above its folder and removes it with the model', async () => {
    const clip = { 'general.architecture': str('clip'), 'general.type': str('mmproj') };
    const { tensors } = tinyChat();
    const files = {
      'Q8_0/tiny-chat-Q8_0.gguf': WEIGHTS,
      'mmproj-F16.gguf': Buffer.from(encodeGguf({ keys: clip, tensors })),
    };
    here.hub.repos[REPO] = { files };
    await open();
    const { id } = await here.bench.pull(REPO, { projector: true });
    const { model } = await here.bench.until(id, 'done');
    expect(here.bench.registry.get(model ?? '')).toMatchObject({ projector: true });
    expect(await here.bench.registry.remove(model ?? '')).toBe(2);
    expect(existsSync(join(here.bench.models, 'maker'))).toBe(false);
  });

  test('DL10 requested twice is one transfer', async () => {
    await open();
    here.hub.fault = { slowMs: 5 };
    const [one, two] = await Promise.all([here.bench.pull(REPO), here.bench.pull(`${REPO}:${FILE}`)]);
    expect(one.id).toBe(two.id);
    await here.bench.until(one.id, 'done');
    expect(here.hub.sent()).toBe(WEIGHTS.length);
  });

  test('DL10 a cancelled pull leaves nothing, and a paused one is unchanged after a restart', async () => {
    const home = scratch();
    await open({ home });
    here.hub.fault = { slowMs: 10 };
    const { id } = await here.bench.pull(REPO);
    await expect.poll(() => here.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    const paused = await here.bench.pulls.pause(id);
    expect(paused.state).toBe('paused');
    await here.bench.close();
    here.ends.pop();
    await open({ home });
    expect(here.bench.pulls.list()).toMatchObject([{ id, state: 'paused' }]);
    here.hub.fault = {};
    const had = here.hub.sent();
    await here.bench.pulls.resume(id);
    await here.bench.until(id, 'done');
    expect(here.hub.sent() - had).toBeLessThan(WEIGHTS.length);
    await expect(here.bench.pulls.cancel(id)).rejects.toMatchObject({ code: 'pull.state' });
  });

  test('resumes at the exact byte after a restart of the gateway', async () => {
    const home = scratch();
    await open({ home });
    here.hub.fault = { slowMs: 10 };
    const { id } = await here.bench.pull(REPO);
    await expect.poll(() => here.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    await here.bench.close();
    here.ends.pop();
    const part = onDisk().find((name) => name.endsWith('.part')) ?? '';
    const there = readFileSync(join(here.bench.models, part)).length;
    here.hub.fault = {};
    await open({ home });
    expect(await here.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(here.hub.requests.at(-1)?.range).toBe(`bytes=${there}-`);
  });

  test('a partial download survives a lost database, which a backup may restore', async () => {
    const home = scratch();
    const file = join(home, 'state', 'svc.db');
    await open({ home });
    here.hub.fault = { slowMs: 10 };
    const { id } = await here.bench.pull(REPO);
    await expect.poll(() => here.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    await here.bench.close();
    here.ends.pop();
    const known = readFileSync(file);
    writeFileSync(file, Buffer.alloc(8192, 0x5a));
    await open({ home });
    expect([here.bench.store.isContentLost, here.bench.pulls.list()]).toEqual([true, []]);
    // Long enough to read one folder.
    await pause(200);
    await here.bench.close();
    here.ends.pop();
    writeFileSync(file, known);
    const had = here.hub.sent();
    here.hub.fault = {};
    await open({ home });
    expect(await here.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(here.hub.sent() - had).toBeLessThan(WEIGHTS.length);
  });
});
