import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { MountGuard } from '../../lib/fs/mount-guard.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { ModelFileCache } from './model-files.ts';

test('a new file is found immediately, a change and its removal shortly afterwards', async () => {
  const folder = scratch();
  const path = join(folder, 'a.bin');
  const places = new ModelFileCache();
  expect([places.at(path), places.at(folder)]).toEqual([null, { sizeBytes: 0 }]);
  writeFileSync(path, 'x'.repeat(7));
  expect(places.at(path)).toEqual({ sizeBytes: 7 });
  writeFileSync(path, 'x'.repeat(9));
  await vi.waitFor(() => expect(places.at(path)).toEqual({ sizeBytes: 9 }), 5_000);
  rmSync(path);
  await vi.waitFor(() => expect(places.at(path)).toBeNull(), 5_000);
});

test('a disk that stops responding blocks no caller, and gets one request', async () => {
  const path = join(scratch(), 'a.bin');
  writeFileSync(path, 'x');
  const patience = new MountGuard({ timeoutMs: 20, mounts: () => [] });
  const places = new ModelFileCache(patience);
  expect(places.at(path)).toEqual({ sizeBytes: 1 });
  const ask = vi.spyOn(patience, 'run');
  const never = vi.fn(() => new Promise<never>(() => {}));
  ask.mockImplementation(
    (folder) => MountGuard.prototype.run.call(patience, folder, never) as Promise<never>,
  );
  rmSync(path);
  await vi.waitFor(() => {
    expect(places.at(path)).toEqual({ sizeBytes: 1 });
    expect(ask.mock.calls.length).toBeGreaterThan(1);
  }, 5_000);
  expect(never).toHaveBeenCalledTimes(1);
});
