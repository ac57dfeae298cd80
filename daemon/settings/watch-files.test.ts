import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { watchFiles } from './watch-files.ts';

let folder = '';
let stop = () => {};
beforeEach(() => {
  folder = scratch();
});
afterEach(() => {
  stop();
});

test('merges changes into one call, ignores other files, and stops after the end', async () => {
  const changed = vi.fn();
  stop = watchFiles(folder, ['a', 'b'], changed);
  for (const name of ['other', 'a', 'b', 'a']) writeFileSync(join(folder, name), name);
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1), 5000);
  writeFileSync(join(folder, 'a'), 'more');
  await vi.waitFor(() => expect(changed.mock.calls.length).toBeGreaterThan(1), 5000);
});

test('polls a folder that cannot be watched', async () => {
  rmSync(folder, { recursive: true });
  const changed = vi.fn();
  stop = watchFiles(folder, ['a'], changed);
  mkdirSync(folder);
  writeFileSync(join(folder, 'a'), '1');
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 10_000 });
});

test('does not call after it was stopped', async () => {
  const changed = vi.fn();
  stop = watchFiles(folder, ['a'], changed);
  const second = vi.fn();
  const stopSecond = watchFiles(folder, ['a'], second);
  writeFileSync(join(folder, 'a'), '1');
  stop();
  await vi.waitFor(() => expect(second).toHaveBeenCalled(), 5000);
  stopSecond();
  expect(changed).not.toHaveBeenCalled();
});
