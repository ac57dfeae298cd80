import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { tinyChat } from '../testing/gguf/tiny-chat.ts';
import { encodeGguf, str } from '../testing/gguf/writer.ts';
import { FILE, PullHub, REPO, WEIGHTS } from '../testing/pull-hub.ts';

const pullHub = new PullHub();
const { open, onDisk } = pullHub;
const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Starts a pull, pauses it halfway and returns how many bytes it had. */
async function paused(): Promise<{ id: string; sentBytes: number }> {
  await open();
  pullHub.hub.fault = { slowMs: 20 };
  const { id } = await pullHub.bench.pull(REPO);
  await expect.poll(() => pullHub.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
  await pullHub.bench.pulls.pause(id);
  const sentBytes = pullHub.hub.sent();
  return { id, sentBytes };
}

describe('a pull', () => {
  test('ends as a registered model with its licence, commit and digest', async () => {
    await open();
    const { id } = await pullHub.bench.pull(`${REPO}:q4_k_m`);
    const done = await pullHub.bench.until(id, 'done', 'failed');
    expect(done).toMatchObject({
      state: 'done',
      repo: REPO,
      file: FILE,
      bytes: WEIGHTS.length,
      total: WEIGHTS.length,
      revision: pullHub.hub.commit(REPO),
      error: null,
      model: 'tiny-chat.Q4_K_M',
    });
    expect(readFileSync(join(pullHub.bench.models, REPO, FILE))).toEqual(WEIGHTS);
    expect(onDisk().sort()).toEqual(
      [`${REPO}/${FILE}`, ...onDisk().filter((name) => !name.includes('/'))].sort(),
    );
    expect(pullHub.bench.registry.views().find(({ id: model }) => model === done.model)).toMatchObject({
      source: 'pull',
      licence: 'mit',
      repo: REPO,
      revision: pullHub.hub.commit(REPO),
      sha256: sum(WEIGHTS),
      demo: false,
    });
    expect(pullHub.bench.events.map(({ state }) => state)).toEqual(
      expect.arrayContaining(['queued', 'running', 'verifying', 'done']),
    );
    await expect(pullHub.bench.pull(`${REPO}:Q4_K_M`)).rejects.toMatchObject({
      code: 'model.exists',
      options: { details: { model: done.model } },
    });
  });

  test('DL01 resumes cut connections at the exact byte', async () => {
    await open();
    pullHub.hub.fault = { cutAfter: 100_000 };
    const { id } = await pullHub.bench.pull(REPO);
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(pullHub.hub.sent()).toBe(WEIGHTS.length);
    const ranges = pullHub.hub.requests.filter(({ range }) => range !== undefined);
    expect(ranges.length).toBeGreaterThan(2);
    expect(ranges.every(({ ifRange }) => ifRange !== undefined)).toBe(true);
  });

  test('DL01 starts again when the server does not support ranges', async () => {
    const { id, sentBytes } = await paused();
    pullHub.hub.fault = { ignoresRanges: true };
    await pullHub.bench.pulls.resume(id);
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(pullHub.hub.sent() - sentBytes).toBe(WEIGHTS.length);
  });

  test('DL01 starts again when the content has another entity tag', async () => {
    const { id, sentBytes } = await paused();
    pullHub.hub.fault = { etag: 'another' };
    await pullHub.bench.pulls.resume(id);
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(pullHub.hub.sent() - sentBytes).toBe(WEIGHTS.length);
    expect(pullHub.hub.requests.at(-1)).toMatchObject({ range: expect.stringMatching(/^bytes=[1-9]\d*-$/) });
  });

  test('downloads all parts of a split model, and a projector on request', async () => {
    const [first, second] = [WEIGHTS.subarray(0, 300_000), Buffer.alloc(6_000, 7)];
    pullHub.hub.repos[REPO] = {
      files: {
        'big-Q8_0-00001-of-00002.gguf': first,
        'big-Q8_0-00002-of-00002.gguf': second,
        'mmproj-big-f16.gguf': Buffer.alloc(5_000, 1),
        'mmproj-big-f32.gguf': Buffer.alloc(9_000, 1),
      },
    };
    await open();
    const record = await pullHub.bench.pull(`${REPO}:Q8_0`, { projector: true });
    expect(record).toMatchObject({ files: 3, total: 311_000, file: 'big-Q8_0-00001-of-00002.gguf' });
    // The parts are no model, and none of them is visible under its name.
    expect(await pullHub.bench.until(record.id, 'done', 'failed')).toMatchObject({
      state: 'failed',
      error: { code: 'pull.no_model' },
    });
    expect(existsSync(join(pullHub.bench.models, REPO))).toBe(false);
    await pullHub.bench.pulls.cancel(record.id);
    expect(onDisk().filter((name) => name.startsWith('.pulls'))).toEqual([]);
  });

  test('finds the projector above its folder and removes it with the model', async () => {
    const clip = { 'general.architecture': str('clip'), 'general.type': str('mmproj') };
    const { tensors } = tinyChat();
    const files = {
      'Q8_0/tiny-chat-Q8_0.gguf': WEIGHTS,
      'mmproj-F16.gguf': Buffer.from(encodeGguf({ keys: clip, tensors })),
    };
    pullHub.hub.repos[REPO] = { files };
    await open();
    const { id } = await pullHub.bench.pull(REPO, { projector: true });
    const { model } = await pullHub.bench.until(id, 'done');
    expect(pullHub.bench.registry.get(model ?? '')).toMatchObject({ projector: true });
    expect(await pullHub.bench.registry.remove(model ?? '')).toBe(2);
    expect(existsSync(join(pullHub.bench.models, 'maker'))).toBe(false);
  });

  test('DL10 a pull that is requested twice is one transfer', async () => {
    await open();
    pullHub.hub.fault = { slowMs: 5 };
    const [one, two] = await Promise.all([pullHub.bench.pull(REPO), pullHub.bench.pull(`${REPO}:${FILE}`)]);
    expect(one.id).toBe(two.id);
    await pullHub.bench.until(one.id, 'done');
    expect(pullHub.hub.sent()).toBe(WEIGHTS.length);
  });

  test('DL10 a cancelled pull leaves nothing, and a paused one is unchanged after a restart', async () => {
    const home = scratch();
    await open({ home });
    pullHub.hub.fault = { slowMs: 10 };
    const { id } = await pullHub.bench.pull(REPO);
    await expect.poll(() => pullHub.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    const paused = await pullHub.bench.pulls.pause(id);
    expect(paused.state).toBe('paused');
    await pullHub.bench.close();
    pullHub.ends.pop();
    await open({ home });
    expect(pullHub.bench.pulls.list()).toMatchObject([{ id, state: 'paused' }]);
    pullHub.hub.fault = {};
    const sentBytes = pullHub.hub.sent();
    await pullHub.bench.pulls.resume(id);
    await pullHub.bench.until(id, 'done');
    expect(pullHub.hub.sent() - sentBytes).toBeLessThan(WEIGHTS.length);
    await expect(pullHub.bench.pulls.cancel(id)).rejects.toMatchObject({ code: 'pull.state' });
  });

  test('resumes at the exact byte after a restart of the gateway', async () => {
    const home = scratch();
    await open({ home });
    pullHub.hub.fault = { slowMs: 10 };
    const { id } = await pullHub.bench.pull(REPO);
    await expect.poll(() => pullHub.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    await pullHub.bench.close();
    pullHub.ends.pop();
    const part = onDisk().find((name) => name.endsWith('.part')) ?? '';
    const partBytes = readFileSync(join(pullHub.bench.models, part)).length;
    pullHub.hub.fault = {};
    await open({ home });
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(pullHub.hub.requests.at(-1)?.range).toBe(`bytes=${partBytes}-`);
  });

  test('a partial download survives a lost database, which a backup may restore', async () => {
    const home = scratch();
    const file = join(home, 'state', 'svc.db');
    await open({ home });
    pullHub.hub.fault = { slowMs: 10 };
    const { id } = await pullHub.bench.pull(REPO);
    await expect.poll(() => pullHub.bench.pulls.list()[0]?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
    await pullHub.bench.close();
    pullHub.ends.pop();
    const known = readFileSync(file);
    writeFileSync(file, Buffer.alloc(8192, 0x5a));
    await open({ home });
    expect([pullHub.bench.store.isContentLost, pullHub.bench.pulls.list()]).toEqual([true, []]);
    // Long enough to read one folder.
    await pause(200);
    await pullHub.bench.close();
    pullHub.ends.pop();
    writeFileSync(file, known);
    const sentBytes = pullHub.hub.sent();
    pullHub.hub.fault = {};
    await open({ home });
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
    expect(pullHub.hub.sent() - sentBytes).toBeLessThan(WEIGHTS.length);
  });
});
