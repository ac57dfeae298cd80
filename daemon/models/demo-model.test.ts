import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEMO_FILE, DEMO_MODEL_ID, ensureDemoModel } from './demo-model.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-demo-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('copies only the model, once', async () => {
  const result = await ensureDemoModel(join(folder, 'models'));
  expect(result).toEqual({ path: join(folder, 'models', 'svc-demo.gguf'), id: DEMO_MODEL_ID });
  expect(await readdir(join(folder, 'models'))).toEqual(['svc-demo.gguf']);
  const first = await stat(result.path);
  expect((await readFile(result.path)).equals(await readFile(DEMO_FILE))).toBe(true);
  await ensureDemoModel(join(folder, 'models'));
  expect((await stat(result.path)).mtimeMs).toBe(first.mtimeMs);
});

test.each([
  ['truncated', (path: string) => truncate(path, 1000)],
  ['of an older version', (path: string) => writeFile(path, 'GGUF old')],
  ['gone', (path: string) => rm(path)],
])('replaces a file that is %s', async (_, damage) => {
  const { path } = await ensureDemoModel(folder);
  const good = await readFile(path);
  await damage(path);
  await ensureDemoModel(folder);
  expect((await readFile(path)).equals(good)).toBe(true);
  expect(await readdir(folder)).toEqual(['svc-demo.gguf']);
});

test('throws when the folder cannot be created', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(ensureDemoModel(join(folder, 'file'))).rejects.toThrow();
});
