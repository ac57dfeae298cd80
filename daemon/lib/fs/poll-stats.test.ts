import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { pollStats } from './poll-stats.ts';

it('detects a file that is created right after the start, changed and removed', async () => {
  const file = join(scratch(), 'a');
  const changed = vi.fn();
  const end = pollStats(() => [file], 20, changed);
  for (const act of [() => writeFileSync(file, '1'), () => writeFileSync(file, '22'), () => rmSync(file)]) {
    changed.mockClear();
    act();
    await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 10_000 });
  }
  end();
});

it('detects that a path is added to the list, and ignores entries that are added to a folder', async () => {
  const folder = scratch();
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  for (const file of [one, two]) writeFileSync(file, '');
  let paths = [folder, one];
  const changed = vi.fn();
  const end = pollStats(() => paths, 20, changed);
  writeFileSync(join(folder, 'other'), '');
  paths = [folder, one, two];
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1), { timeout: 10_000 });
  end();
});
