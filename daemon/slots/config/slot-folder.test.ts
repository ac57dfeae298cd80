import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { readSlotFolder } from './slot-folder.ts';

let folder: string;
beforeEach(() => {
  folder = scratch();
});

const names = () => readSlotFolder(folder).configs.map((config) => config.name);

it('a fresh machine has slot agent, also without the folder', () => {
  expect(names()).toEqual(['agent']);
  rmSync(folder, { recursive: true });
  expect(readSlotFolder(folder)).toMatchObject({ configs: [{ name: 'agent' }], problems: [] });
});

it('an invalid file affects only its own slot', () => {
  writeFileSync(join(folder, 'bad.toml'), 'parallel = ');
  writeFileSync(join(folder, 'good.toml'), '');
  writeFileSync(join(folder, 'notes.txt'), '');
  mkdirSync(join(folder, 'folder.toml'));
  expect(names()).toEqual(['agent', 'good']);
  const files = readSlotFolder(folder).problems.map((problem) => problem.file);
  expect(files).toEqual(['bad.toml', 'folder.toml']);
  expect([...readSlotFolder(folder).broken]).toEqual(['bad', 'folder']);
});

it.each([
  'hidden: .b.toml',
  'the lock of Emacs: .#c.toml',
  'the backup of Emacs: d.toml~',
  'the autosave of Emacs: #e.toml#',
  'the swap file of Vim: .f.toml.swp',
  'the swap file of Vim without a dot: g.toml.swp',
  'the backup of sed: h.toml.bak',
  'the copy of dpkg: i.toml.dpkg-dist',
  'the write of GNOME: .goutputstream-AB12CD',
  'the write of KDE: j.toml.kXyz12',
  'the numbered backup of Vim: 4913',
  'the copy of Syncthing: .syncthing.k.toml.tmp',
  'the AppleDouble file of macOS: ._m.toml',
])('hidden files and those of editors are no slot files: %s', (described) => {
  const [, name = ''] = described.split(': ');
  writeFileSync(join(folder, name), 'parallel = ');
  expect(readSlotFolder(folder)).toMatchObject({ configs: [{ name: 'agent' }], problems: [] });
});

it('the lock of Emacs for agent.toml is no slot file', () => {
  symlinkSync('user@host.1', join(folder, '.#agent.toml'));
  expect(readSlotFolder(folder)).toMatchObject({ configs: [{ name: 'agent' }], problems: [] });
});

describe('follows symbolic links', () => {
  let elsewhere: string;
  beforeEach(() => {
    elsewhere = scratch();
    mkdirSync(join(elsewhere, 'dotfiles'));
    writeFileSync(join(elsewhere, 'dotfiles', 'real.toml'), 'parallel = 3');
    writeFileSync(join(elsewhere, 'plain'), 'parallel = 3');
  });
  const link = (target: string) => symlinkSync(target, join(folder, 'linked.toml'));

  it.each<[string, () => void]>([
    ['out of the folder', () => link(join(elsewhere, 'dotfiles', 'real.toml'))],
    ['by a relative path, as stow makes them', () => link(relative(folder, join(elsewhere, 'plain')))],
    [
      'over several links, as Kubernetes and Nix make them',
      () => {
        symlinkSync(join(elsewhere, 'dotfiles'), join(elsewhere, '..data'));
        symlinkSync('..data/real.toml', join(elsewhere, 'store.toml'));
        link(join(elsewhere, 'store.toml'));
      },
    ],
    [
      'to a hidden folder next to it',
      () => {
        mkdirSync(join(folder, '..2026_11_28'));
        writeFileSync(join(folder, '..2026_11_28', 'linked.toml'), 'parallel = 3');
        symlinkSync('..2026_11_28', join(folder, '..data'));
        link('..data/linked.toml');
      },
    ],
    ['to a file with another ending', () => link(join(elsewhere, 'plain'))],
    [
      'to a slot file next to it',
      () => {
        writeFileSync(join(folder, 'first.toml'), 'parallel = 3');
        link('first.toml');
      },
    ],
    [
      'in a folder that is a link',
      () => {
        link(join(elsewhere, 'plain'));
        const path = folder;
        folder = join(elsewhere, 'slots');
        symlinkSync(path, folder);
      },
    ],
  ])('%s', (_, make) => {
    make();
    const { configs, problems } = readSlotFolder(folder);
    expect(configs.find(({ name }) => name === 'linked')?.parallel).toBe(3);
    expect(problems).toEqual([]);
  });

  it.each<[string, string]>([
    ['to nothing', 'missing'],
    ['to itself', 'linked.toml'],
  ])('%s: a problem', (_, target) => {
    link(target);
    const message = expect.stringMatching(/^cannot be read \((ENOENT|ELOOP)\)$/);
    expect(readSlotFolder(folder).problems).toEqual([{ file: 'linked.toml', line: null, message }]);
  });
});

it.each<[string, (path: string) => void]>([
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a giant file', (path) => writeFileSync(path, `#${'x'.repeat(64 * 1024)}`)],
  ['a link to a device without an end', (path) => symlinkSync('/dev/zero', path)],
  ['a link to a device that waits', (path) => symlinkSync('/dev/random', path)],
  [
    'a link to a pipe',
    (path) => {
      execFileSync('mkfifo', [join(folder, 'pipe')]);
      symlinkSync('pipe', path);
    },
  ],
  ['a link to a folder', (path) => symlinkSync('/', path)],
])('%s is not read', (_, make) => {
  make(join(folder, 'special.toml'));
  expect(names()).toEqual(['agent']);
  expect(readSlotFolder(folder).problems).toEqual([
    { file: 'special.toml', line: null, message: 'is not a file of at most 64 KiB' },
  ]);
});

it('a slot that no engine can serve is a problem with the key', () => {
  writeFileSync(join(folder, 'img.toml'), 'type = "image"');
  expect(names()).toEqual(['agent']);
  expect(readSlotFolder(folder).problems).toEqual([
    {
      file: 'img.toml',
      line: 1,
      message: 'type: engine embedded serves llm, embedding, rerank, not image',
    },
  ]);
});

it.each([
  ['\nengine = "nosuch"', 2, 'engine: '],
  ['parallel = 1\nengine = "comfyui"\ntype = "llm"', 3, 'type: '],
  ['engine = "kokoro"\ntype = "tts"\n\nrunner = "worker"', 4, 'runner: '],
  ['runner = "attach"\nengine = "custom"\nurl = "ftp://x"', 3, 'url: '],
  ['engine = "whisper-server"\ntype = "stt"', null, 'model: '],
])('%j: the line of the invalid key is %s', (text, line, message) => {
  writeFileSync(join(folder, 'own.toml'), text);
  const [problem] = readSlotFolder(folder).problems;
  expect(problem).toMatchObject({ file: 'own.toml', line, message: expect.stringContaining(message) });
});

it('returns the line in which a file sets a key', () => {
  writeFileSync(join(folder, 'tts.toml'), 'type = "tts"\n[voice]\nvoice = "anna"');
  const { lineOf } = readSlotFolder(folder);
  expect([lineOf('tts', 'voice'), lineOf('tts', 'url'), lineOf('agent', 'type')]).toEqual([2, null, null]);
});

it('an invalid file of a built-in slot is not replaced by the default', () => {
  writeFileSync(join(folder, 'agent.toml'), 'enabled = "no"');
  expect(names()).toEqual([]);
});

it('a folder that cannot be listed is a problem, not a failure', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(readSlotFolder(file).problems).toEqual([
    { file: 'slots', line: null, message: 'cannot be listed (ENOTDIR)' },
  ]);
});

it('a folder that cannot be listed for some time leaves all slots unchanged', () => {
  writeFileSync(join(folder, 'good.toml'), 'parallel = 3');
  writeFileSync(join(folder, 'bad.toml'), 'parallel = ');
  const before = readSlotFolder(folder);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  const once = readSlotFolder(folder, before);
  expect(once).toMatchObject({ configs: before.configs, files: before.files, revisions: before.revisions });
  expect(readSlotFolder(folder, once).problems.map(({ message }) => message)).toEqual([
    'cannot be listed (ENOTDIR)',
    before.problems[0]?.message,
  ]);
});

it('a slot whose file becomes invalid keeps its settings, until the file is corrected or deleted', () => {
  const write = (text: string) => writeFileSync(join(folder, 'w.toml'), text);
  write('parallel = 3');
  const before = readSlotFolder(folder);
  write('parallel = ');
  const once = readSlotFolder(folder, before);
  const twice = readSlotFolder(folder, once);
  expect(twice.configs).toContain(before.configs.find(({ name }) => name === 'w'));
  expect([...twice.broken]).toEqual(['w']);
  expect(twice.problems).toHaveLength(1);
  rmSync(join(folder, 'w.toml'));
  expect(readSlotFolder(folder, twice).configs.map(({ name }) => name)).toEqual(['agent']);
});
