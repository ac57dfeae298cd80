import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { watchFolder } from './watch-folder.ts';

const LIMIT = { timeout: 10_000 };

it('reports new, changed and removed files', async () => {
  const folder = scratch();
  const changed = vi.fn();
  const end = watchFolder(folder, changed);
  for (const act of [
    () => writeFileSync(join(folder, 'a.toml'), '1'),
    () => writeFileSync(join(folder, 'a.toml'), '2'),
    () => rmSync(join(folder, 'a.toml')),
  ]) {
    changed.mockClear();
    act();
    await vi.waitFor(() => expect(changed).toHaveBeenCalled(), LIMIT);
  }
  end();
});

it('reports when the folder is created later', async () => {
  const folder = join(scratch(), 'slots');
  const changed = vi.fn();
  const end = watchFolder(folder, changed);
  mkdirSync(folder);
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), LIMIT);
  end();
});
