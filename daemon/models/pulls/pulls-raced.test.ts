import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FILE, PullHub, REPO, WEIGHTS } from '../testing/pull-hub.ts';

const here = new PullHub();
const { open } = here;
const PROJECTOR = 'mmproj-f16.gguf';

test('a pull whose file is removed while it fetches another one brings both', async () => {
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
