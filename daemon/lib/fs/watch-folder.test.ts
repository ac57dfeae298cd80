import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { watchFolder } from './watch-folder.ts';

const isToml = (name: string) => name.endsWith('.toml') && !name.startsWith('.');
const LIMIT = { timeout: 10_000 };

it('reports new, changed and removed files', async () => {
  const folder = scratch();
  const changed = vi.fn();
  const end = watchFolder(folder, isToml, changed);
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
  const end = watchFolder(folder, isToml, changed);
  mkdirSync(folder);
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), LIMIT);
  end();
});

it.each<[string, (folder: string, elsewhere: string) => () => void]>([
  [
    'its target is edited in place',
    (folder, elsewhere) => {
      writeFileSync(join(elsewhere, 'real.toml'), '1');
      symlinkSync(join(elsewhere, 'real.toml'), join(folder, 'a.toml'));
      return () => writeFileSync(join(elsewhere, 'real.toml'), '22');
    },
  ],
  [
    'its target is replaced',
    (folder, elsewhere) => {
      writeFileSync(join(elsewhere, 'real.toml'), '1');
      symlinkSync(join(elsewhere, 'real.toml'), join(folder, 'a.toml'));
      return () => {
        writeFileSync(join(elsewhere, 'new.toml'), '1');
        renameSync(join(elsewhere, 'new.toml'), join(elsewhere, 'real.toml'));
      };
    },
  ],
  [
    'a folder within its path is swapped, as Kubernetes does',
    (folder, elsewhere) => {
      for (const version of ['1', '2']) {
        mkdirSync(join(elsewhere, version));
        writeFileSync(join(elsewhere, version, 'a.toml'), version);
      }
      symlinkSync('1', join(elsewhere, 'data'));
      symlinkSync(join(elsewhere, 'data', 'a.toml'), join(folder, 'a.toml'));
      return () => {
        symlinkSync('2', join(elsewhere, 'data.new'));
        renameSync(join(elsewhere, 'data.new'), join(elsewhere, 'data'));
      };
    },
  ],
  [
    'its target appears',
    (folder, elsewhere) => {
      symlinkSync(join(elsewhere, 'real.toml'), join(folder, 'a.toml'));
      return () => writeFileSync(join(elsewhere, 'real.toml'), '1');
    },
  ],
])('reports a symbolic link when %s', async (_, prepare) => {
  const folder = scratch();
  const act = prepare(folder, scratch());
  const changed = vi.fn();
  const end = watchFolder(folder, isToml, changed);
  act();
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), LIMIT);
  end();
});

it('ignores files of editors and temporary files', async () => {
  const folder = scratch();
  const changed = vi.fn();
  const any = vi.fn();
  const ends = [watchFolder(folder, isToml, changed), watchFolder(folder, () => true, any)];
  for (const name of ['.a.toml.swp', '.#a.toml', 'a.toml~', '.a.toml.1.0123456789abcdef.tmp'])
    writeFileSync(join(folder, name), '');
  await vi.waitFor(() => expect(any).toHaveBeenCalled(), LIMIT);
  expect(changed).not.toHaveBeenCalled();
  for (const end of ends) end();
});
