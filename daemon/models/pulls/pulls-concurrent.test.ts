import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FILE, PullHub, REPO, WEIGHTS } from '../testing/pull-hub.ts';

const here = new PullHub();
const { open } = here;
const PROJECTOR = 'mmproj-f16.gguf';

test('downloads a file again that is removed while another is transferred', async () => {
  here.hub.repos[REPO] = { files: { [FILE]: WEIGHTS, [PROJECTOR]: Buffer.alloc(100_000, 1) } };
  await open();
  const first = await here.bench.pull(REPO);
  const { model } = await here.bench.until(first.id, 'done');
  here.hub.fault = { slowMs: 30 };
  const { id } = await here.bench.pull(REPO, { projector: true });
  const now = () => here.bench.pulls.list().find((one) => one.id === id)?.bytes;
  await expect.poll(now, { timeout: 10_000 }).toBeGreaterThan(WEIGHTS.length);
  await here.bench.registry.remove(model ?? '');
  expect(existsSync(join(here.bench.models, REPO, FILE))).toBe(false);
  here.hub.fault = {};
  expect(await here.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done', error: null, model });
  expect(readFileSync(join(here.bench.models, REPO, FILE))).toEqual(WEIGHTS);
});

const record = (id: string) => here.bench.pulls.list().find((one) => one.id === id);

test('DL10 transfers a file that two pulls need once', async () => {
  const projector = Buffer.alloc(100_000, 1);
  const other = Buffer.concat([WEIGHTS, Buffer.alloc(1_000)]);
  here.hub.repos[REPO] = { files: { [FILE]: WEIGHTS, 'tiny-chat.Q8_0.gguf': other, [PROJECTOR]: projector } };
  await open();
  here.hub.fault = { slowMs: 2 };
  const pulls = [
    await here.bench.pull(REPO),
    await here.bench.pull(REPO, { projector: true }),
    await here.bench.pull(`${REPO}:Q8_0`, { projector: true }),
  ];
  for (const { id } of pulls)
    expect(await here.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
  expect(here.hub.sent()).toBe(WEIGHTS.length + other.length + projector.length);
});

test("DL10 a pull that waits for another's files may be cancelled, or continues when the other is paused", async () => {
  here.hub.repos[REPO] = { files: { [FILE]: WEIGHTS, [PROJECTOR]: Buffer.alloc(50_000, 1) } };
  await open();
  here.hub.fault = { slowMs: 20 };
  const first = await here.bench.pull(REPO);
  const second = await here.bench.pull(REPO, { projector: true });
  await expect.poll(() => record(first.id)?.bytes, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(await here.bench.pulls.pause(second.id)).toMatchObject({ state: 'paused', bytes: 0 });
  await here.bench.pulls.resume(second.id);
  await here.bench.pulls.pause(first.id);
  here.hub.fault = {};
  expect(await here.bench.until(second.id, 'done', 'failed')).toMatchObject({ state: 'done' });
  const had = here.hub.sent();
  await here.bench.pulls.resume(first.id);
  expect(await here.bench.until(first.id, 'done', 'failed')).toMatchObject({ state: 'done' });
  expect(here.hub.sent()).toBe(had);
});

test('DL03 counts no space for installed files and those of other pulls', async () => {
  const projector = Buffer.alloc(50_000, 1);
  here.hub.repos[REPO] = { files: { [FILE]: WEIGHTS, [PROJECTOR]: projector } };
  const reserve = 512 * 1024 * 1024;
  let free = reserve + WEIGHTS.length + projector.length;
  await open({ free: async () => free });
  here.hub.fault = { slowMs: 20 };
  const first = await here.bench.pull(REPO);
  const second = await here.bench.pull(REPO, { projector: true });
  await here.bench.pulls.cancel(second.id);
  here.hub.fault = {};
  await here.bench.until(first.id, 'done');
  free = reserve + projector.length - 1;
  await expect(here.bench.pull(REPO, { projector: true })).rejects.toMatchObject({ code: 'pull.no_space' });
  free += 1;
  const { id } = await here.bench.pull(REPO, { projector: true });
  expect(await here.bench.until(id, 'done', 'failed')).toMatchObject({ state: 'done' });
});
