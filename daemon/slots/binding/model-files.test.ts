import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { MountGuard } from '../../lib/fs/mount-guard.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { ModelFileCache, modelFileAt, weightFiles } from './model-files.ts';

test('a new file is found immediately, a change and its removal shortly afterwards', async () => {
  const folder = scratch();
  const path = join(folder, 'a.bin');
  const cache = new ModelFileCache();
  expect([cache.at(path), cache.at(folder)]).toEqual([null, { sizeBytes: 0 }]);
  writeFileSync(path, 'x'.repeat(7));
  expect(cache.at(path)).toEqual({ sizeBytes: 7 });
  writeFileSync(path, 'x'.repeat(9));
  await vi.waitFor(() => expect(cache.at(path)).toEqual({ sizeBytes: 9 }), 5_000);
  rmSync(path);
  await vi.waitFor(() => expect(cache.at(path)).toBeNull(), 5_000);
});

test('a disk that stops responding blocks no caller, and gets one request', async () => {
  const path = join(scratch(), 'a.bin');
  writeFileSync(path, 'x');
  const mountGuard = new MountGuard({ timeoutMs: 20, mounts: () => [] });
  const cache = new ModelFileCache(mountGuard);
  expect(cache.at(path)).toEqual({ sizeBytes: 1 });
  const run = vi.spyOn(mountGuard, 'run');
  const hangs = vi.fn(() => new Promise<never>(() => {}));
  run.mockImplementation(
    (folder) => MountGuard.prototype.run.call(mountGuard, folder, hangs) as Promise<never>,
  );
  rmSync(path);
  await vi.waitFor(() => {
    expect(cache.at(path)).toEqual({ sizeBytes: 1 });
    expect(run.mock.calls.length).toBeGreaterThan(1);
  }, 5_000);
  expect(hangs).toHaveBeenCalledTimes(1);
});

test.each([
  [['config.json', 'model.safetensors', 'pytorch_model.bin'], ['model.safetensors']],
  [['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors', 'consolidated.safetensors'], 2],
  [['consolidated.safetensors', 'params.json'], ['consolidated.safetensors']],
  [['pytorch_model.bin', 'training_args.bin', 'optimizer.pt'], ['pytorch_model.bin']],
  [['encoder.onnx', 'decoder.onnx', 'tokens.txt'], 2],
  [['v1-5.ckpt'], ['v1-5.ckpt']],
  [['._model.safetensors', 'model.safetensors'], ['model.safetensors']],
  [['config.json'], []],
])('the weights in %j', (names, expected) => {
  const files = weightFiles(names);
  if (typeof expected === 'number') expect(files).toHaveLength(expected);
  else expect(files).toEqual(expected);
});

test('a folder has the size of its weights, also after a change', async () => {
  const folder = join(scratch(), 'model');
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.json'), '{}');
  for (const part of ['1', '2']) writeFileSync(join(folder, `model-${part}.safetensors`), 'x'.repeat(50));
  expect(modelFileAt(folder)).toEqual({ sizeBytes: 100 });
  const cache = new ModelFileCache();
  expect(cache.at(folder)).toEqual({ sizeBytes: 100 });
  writeFileSync(join(folder, 'model-3.safetensors'), 'x'.repeat(50));
  await vi.waitFor(() => expect(cache.at(folder)).toEqual({ sizeBytes: 150 }), 5_000);
});
