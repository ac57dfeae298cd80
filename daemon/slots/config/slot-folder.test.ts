import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
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

it('hidden files and those of editors are no slot files', () => {
  for (const name of ['.b.toml', '.#c.toml', 'd.toml~', '#e.toml#', '.f.toml.swp', 'g.toml.swp'])
    writeFileSync(join(folder, name), 'parallel = ');
  symlinkSync('user@host.1', join(folder, '.#agent.toml'));
  expect(readSlotFolder(folder)).toMatchObject({ configs: [{ name: 'agent' }], problems: [] });
});

it('follows symbolic links, also out of the folder', () => {
  const elsewhere = join(scratch(), 'real.toml');
  writeFileSync(elsewhere, 'parallel = 3');
  symlinkSync(elsewhere, join(folder, 'linked.toml'));
  symlinkSync(join(folder, 'missing'), join(folder, 'dangling.toml'));
  const read = readSlotFolder(folder);
  expect(read.configs.find(({ name }) => name === 'linked')?.parallel).toBe(3);
  expect(read.problems).toEqual([{ file: 'dangling.toml', line: null, message: 'cannot be read (ENOENT)' }]);
});

it('neither a pipe nor a giant file is read', () => {
  execFileSync('mkfifo', [join(folder, 'pipe.toml')]);
  writeFileSync(join(folder, 'large.toml'), `#${'x'.repeat(64 * 1024)}`);
  const message = 'is not a file of at most 64 KiB';
  expect(names()).toEqual(['agent']);
  expect(readSlotFolder(folder).problems).toEqual([
    { file: 'large.toml', line: null, message },
    { file: 'pipe.toml', line: null, message },
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
