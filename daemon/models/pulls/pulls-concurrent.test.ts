import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FILE, PullHub, REPO, WEIGHTS } from '../testing/pull-hub.ts';

const pullHub = new PullHub();
const { open } = pullHub;
const PROJECTOR = 'mmproj-f16.gguf';

test('downloads a file again that is removed while another is transferred', async () => {
  pullHub.hub.repos[REPO] = { files: { [FILE]: WEIGHTS, [PROJECTOR]: Buffer.alloc(100_000, 1) } };
  await open();
  const first = await pullHub.bench.pull(REPO);
  const { model } = await pullHub.bench.until(first.id, 'done');
  pullHub.hub.fault = { slowMs: 30 };
  const { id } = await pullHub.bench.pull(REPO, { projector: true });
  const now = () => pullHub.bench.pulls.list().find((one) => one.id === id)?.bytes;
  await expect.poll(now, { timeout: 10_000 }).toBeGreaterThan(WEIGHTS.length);
  await pullHub.bench.registry.remove(model ?? '');
  expect(existsSync(join(pullHub.bench.models, REPO, FILE))).toBe(false);
  pullHub.hub.fault = {};
  expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({
    state: 'done',
    error: null,
    model,
  });
  expect(readFileSync(join(pullHub.bench.models, REPO, FILE))).toEqual(WEIGHTS);
});

const record = (id: string) => pullHub.bench.pulls.list().find((one) => one.id === id);

test('DL10 transfers a file that two pulls need once', async () => {
  const projector = Buffer.alloc(100_000, 1);
  const other = Buffer.concat([WEIGHTS, Buffer.alloc(1_000)]);
  pullHub.hub.repos[REPO] = {
    files: { [FILE]: WEIGHTS, 'tiny-chat.Q8_0.gguf': other, [PROJECTOR]: projector },
  };
  await open();
  pullHub.hub.fault = { slowMs: 2 };
  const pulls = [
    await pullHub.bench.pull(REPO),
    await pullHub.bench.pull(REPO, { projector: true }),
    await pullHub.bench.pull(`${REPO}:Q8_0`, { projector: true }),
  ];
  for (const { id } of pulls)
    expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
  expect(pullHub.hub.sent()).toBe(WEIGHTS.length + other.length + projector.length);
});

test("DL10 a pull that waits for another's files may be cancelled, or continues when the other is paused", async () => {
  pullHub.hub.repos[REPO] = { files: { [FILE]: WEIGHTS, [PROJECTOR]: Buffer.alloc(50_000, 1) } };
  await open();
  pullHub.hub.fault = { slowMs: 20 };
  const first = await pullHub.bench.pull(REPO);
  const second = await pullHub.bench.pull(REPO, { projector: true });
  await expect.poll(() => record(first.id)?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(await pullHub.bench.pulls.pause(second.id)).toMatchObject({ state: 'paused', bytes: 0 });
  await pullHub.bench.pulls.resume(second.id);
  await pullHub.bench.pulls.pause(first.id);
  pullHub.hub.fault = {};
  expect(await pullHub.bench.until(second.id, 'done', 'failed')).toMatchObject({ state: 'done' });
  const sentBefore = pullHub.hub.sent();
  await pullHub.bench.pulls.resume(first.id);
  expect(await pullHub.bench.until(first.id, 'done', 'failed')).toMatchObject({ state: 'done' });
  expect(pullHub.hub.sent()).toBe(sentBefore);
});

test('DL03 counts no space for installed files and those of other pulls', async () => {
  const projector = Buffer.alloc(50_000, 1);
  pullHub.hub.repos[REPO] = { files: { [FILE]: WEIGHTS, [PROJECTOR]: projector } };
  const reserve = 512 * 1024 * 1024;
  let free = reserve + WEIGHTS.length + projector.length;
  await open({ free: async () => free });
  pullHub.hub.fault = { slowMs: 20 };
  const first = await pullHub.bench.pull(REPO);
  const second = await pullHub.bench.pull(REPO, { projector: true });
  await pullHub.bench.pulls.cancel(second.id);
  pullHub.hub.fault = {};
  await pullHub.bench.until(first.id, 'done');
  free = reserve + projector.length - 1;
  await expect(pullHub.bench.pull(REPO, { projector: true })).rejects.toMatchObject({
    code: 'pull.no_space',
  });
  free += 1;
  const { id } = await pullHub.bench.pull(REPO, { projector: true });
  expect(await pullHub.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
});
