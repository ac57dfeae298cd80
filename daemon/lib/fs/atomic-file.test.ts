import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { createExclusive, FileWriteError, type ReplaceOptions, replaceFile } from './atomic-file.ts';
import { type FaultStep, sweepTemps } from './temp-file.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = scratch();
  path = join(folder, 'api.env');
});

const root = process.getuid?.() === 0;
const mode = (at = path) => (lstatSync(at).mode & 0o7777).toString(8);
const text = (at = path) => readFileSync(at, 'utf8');
const replace = (content: string, options: Partial<ReplaceOptions> = {}) =>
  replaceFile(path, Buffer.from(content), { mode: 0o600, ...options });
const refusal = (promise: Promise<unknown>): Promise<FileWriteError> =>
  promise.then(
    () => expect.fail('was not refused'),
    (error) => {
      expect(error).toBeInstanceOf(FileWriteError);
      expect(error.message).not.toContain(folder);
      return error;
    },
  );
const errno = (code: string) => Object.assign(new Error(`${code} at ${folder}`), { code });
const STEPS: FaultStep[] = ['open', 'write', 'fsync', 'rename'];

describe('replaceFile', () => {
  test('creates a missing file with the requested mode, and leaves no temporary file', async () => {
    expect(await replace('one')).toEqual({ durable: true });
    expect([text(), mode(), readdirSync(folder)]).toEqual(['one', '600', ['api.env']]);
  });

  test.each([
    [0o640, 0o600, '600'],
    [0o640, 0o644, '640'],
    [0o400, 0o600, '400'],
    [0o666, 0o644, '644'],
  ])('mode %o requested %o gives %s: never wider than before', async (before, requested, after) => {
    writeFileSync(path, 'old');
    chmodSync(path, before);
    await replace('new', { mode: requested });
    expect([text(), mode()]).toEqual(['new', after]);
  });

  test('no file in the folder is ever readable by others', async () => {
    writeFileSync(path, 'old', { mode: 0o600 });
    const modes: string[] = [];
    await replace('new', {
      faults: () => {
        for (const name of readdirSync(folder)) modes.push(mode(join(folder, name)));
      },
    });
    expect(modes.length).toBeGreaterThan(5);
    expect(new Set(modes)).toEqual(new Set(['600']));
  });

  test.each(STEPS)(
    'a failure at %s leaves the old file, reports the code and leaves no temporary file',
    async (step) => {
      writeFileSync(path, 'old', { mode: 0o600 });
      for (const code of ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EBUSY', 'EPERM']) {
        const error = await refusal(
          replace('new', {
            faults: (at) => {
              if (at === step) throw errno(code);
            },
          }),
        );
        expect([error.reason, error.code, error.message]).toEqual([
          'io',
          code,
          expect.stringMatching(new RegExp(`^api\\.env .*\\(${code}\\)`)),
        ]);
        expect([text(), readdirSync(folder)]).toEqual(['old', ['api.env']]);
      }
    },
  );

  test.each([
    ['EBUSY', 'api.env is a mount of its own and cannot be replaced (EBUSY); mount its folder instead'],
    ['EROFS', 'api.env is on a read-only file system (EROFS)'],
    ['ENOSPC', 'api.env could not be written because the disk is full (ENOSPC)'],
    ['EACCES', 'api.env could not be written (EACCES)'],
  ])('the message for %s names the cause', async (code, message) => {
    const faults = (step: FaultStep) => {
      if (step === 'rename') throw errno(code);
    };
    expect((await refusal(replace('new', { faults }))).message).toBe(message);
  });

  test('wraps an error without a code', async () => {
    const error = await refusal(
      replace('new', {
        faults: () => {
          throw null;
        },
      }),
    );
    expect([error.reason, error.code]).toEqual(['io', null]);
  });

  test('a failure of the last flush leaves the new file and is reported', async () => {
    writeFileSync(path, 'old');
    const faults = (at: FaultStep) => {
      if (at === 'fsyncdir') throw errno('EIO');
    };
    expect(await replace('new', { faults })).toEqual({ durable: false });
    expect(text()).toBe('new');
  });

  test('beforeRename can cancel, with its own error', async () => {
    writeFileSync(path, 'old');
    const error = await refusal(
      replace('new', {
        beforeRename: async () => {
          throw new FileWriteError(path, 'changed', 'was changed by someone else');
        },
      }),
    );
    expect([error.reason, text(), readdirSync(folder)]).toEqual(['changed', 'old', ['api.env']]);
  });

  test('follows and keeps a symbolic link within the folder', async () => {
    mkdirSync(join(folder, 'real'));
    writeFileSync(join(folder, 'real', 'keys'), 'old', { mode: 0o600 });
    symlinkSync(join('real', 'keys'), path);
    await replace('new');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect([text(), text(join(folder, 'real', 'keys')), readdirSync(join(folder, 'real'))]).toEqual([
      'new',
      'new',
      ['keys'],
    ]);
  });

  test('refuses a link that dangles, loops or leaves the folder', async () => {
    const outside = scratch();
    writeFileSync(join(outside, 'x'), 'theirs');
    for (const target of ['nowhere', 'api.env', join(outside, 'x')]) {
      rmSync(path, { force: true });
      symlinkSync(target, path);
      expect((await refusal(replace('new'))).reason).toBe('symlink');
    }
    expect(text(join(outside, 'x'))).toBe('theirs');
    await replace('ours', { within: outside });
    expect(text(join(outside, 'x'))).toBe('ours');
  });

  test('a sibling folder with the same prefix is outside', async () => {
    const sibling = `${folder}-sibling`;
    mkdirSync(sibling);
    writeFileSync(join(sibling, 'x'), 'theirs');
    symlinkSync(join(sibling, 'x'), path);
    expect((await refusal(replace('new'))).reason).toBe('symlink');
    rmSync(sibling, { recursive: true });
  });

  test('refuses anything but a regular file, also behind a link', async () => {
    mkdirSync(path);
    expect((await refusal(replace('new'))).reason).toBe('not_a_file');
    rmSync(path, { recursive: true });
    mkdirSync(join(folder, 'sub'));
    symlinkSync('sub', path);
    expect((await refusal(replace('new'))).reason).toBe('not_a_file');
  });

  test('a missing folder is an io error', async () => {
    const error = await refusal(
      replaceFile(join(folder, 'no', 'api.env'), Buffer.from('x'), { mode: 0o600 }),
    );
    expect([error.reason, error.code]).toEqual(['io', 'ENOENT']);
    writeFileSync(join(folder, 'plain'), '');
    const inFile = await refusal(replaceFile(join(folder, 'plain', 'x'), Buffer.from('x'), { mode: 0o600 }));
    expect(inFile.code).toBe('ENOTDIR');
  });

  test.runIf(root)('refuses a file of another user with sameOwner, otherwise keeps its owner', async () => {
    writeFileSync(path, 'old', { mode: 0o640 });
    chownSync(path, 12345, 23456);
    expect((await refusal(replace('new', { sameOwner: true }))).reason).toBe('owner');
    await replace('new', { mode: 0o644 });
    const stats = statSync(path);
    expect([stats.uid, stats.gid, mode(), text()]).toEqual([12345, 23456, '640', 'new']);
  });

  test.runIf(!root)('an unwritable folder is an io error', async () => {
    writeFileSync(path, 'old');
    chmodSync(folder, 0o500);
    expect((await refusal(replace('new'))).code).toBe('EACCES');
    chmodSync(folder, 0o700);
  });

  test.each([...STEPS, 'fsyncdir'] as const)(
    'killed at %s, the file is completely old or completely new',
    async (step) => {
      writeFileSync(path, 'old', { mode: 0o600 });
      const script = join(import.meta.dirname, 'fixtures', 'replace-and-die.ts');
      const signal = await new Promise((resolve) =>
        execFile(process.execPath, [script, path, step], (error) => resolve(error?.signal)),
      );
      expect(signal).toBe('SIGKILL');
      expect(text()).toBe(step === 'fsyncdir' ? 'new '.repeat(50_000) : 'old');
      const leftovers = readdirSync(folder).length - 1;
      expect(leftovers).toBe(['write', 'fsync', 'rename'].includes(step) ? 1 : 0);
      expect(await sweepTemps(folder)).toBe(leftovers);
      expect(readdirSync(folder)).toEqual(['api.env']);
    },
  );
});

describe('createExclusive', () => {
  const create = (content: string) => createExclusive(path, Buffer.from(content), 0o600);

  test('creates once, never over anything', async () => {
    expect(await create('one')).toBe(true);
    expect(await create('two')).toBe(false);
    expect([text(), mode(), readdirSync(folder)]).toEqual(['one', '600', ['api.env']]);
  });

  test('a dangling link counts as existing', async () => {
    symlinkSync('nowhere', path);
    expect(await create('one')).toBe(false);
    expect(readdirSync(folder)).toEqual(['api.env']);
  });

  test('exactly one of many concurrent calls wins, and its content is complete', async () => {
    const results = await Promise.all(
      Array.from({ length: 16 }, (_, i) => create(`${i}`.padStart(4, '0').repeat(1000))),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(text()).toBe(`${results.indexOf(true)}`.padStart(4, '0').repeat(1000));
    expect([statSync(path).nlink, readdirSync(folder)]).toEqual([1, ['api.env']]);
  });

  test('a missing folder is an io error', async () => {
    const error = await refusal(createExclusive(join(folder, 'no', 'x'), Buffer.from('x'), 0o600));
    expect(error.code).toBe('ENOENT');
  });
});

test('a hard-linked file loses the link: the other name keeps the old content', async () => {
  writeFileSync(path, 'old');
  linkSync(path, join(folder, 'other'));
  await replace('new');
  expect([text(), text(join(folder, 'other'))]).toEqual(['new', 'old']);
});
