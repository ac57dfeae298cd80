import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { holderOf } from '../lib/process/process-claim.ts';
import { startTicksOf } from '../lib/process/process-identity.ts';
import { SetupError } from '../lib/setup-error.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { withFault } from '../test/harness/failing-fs.ts';
import { lockState } from './state-lock.ts';

const FILE = join(import.meta.dirname, 'state-lock.ts');
/** Arguments of `unshare` for a shell with private mounts. */
const apart = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user'];
const mayMount = spawnSync('unshare', [...apart, 'mount', '-t', 'tmpfs', 'disk', tmpdir()]).status === 0;
if (!mayMount)
  console.warn('SKIPPED, nothing can be mounted here: the lock of a state folder on a full disk');

let folder: string;
const path = () => join(folder, 'gateway.pid');
beforeEach(() => {
  folder = scratch();
});

it('locks a free folder and releases it', async () => {
  const free = await lockState(folder);
  expect(existsSync(path())).toBe(true);
  free();
  expect(existsSync(path())).toBe(false);
});

it('refuses while another running process holds the lock, and reports its pid', async () => {
  writeFileSync(path(), `${process.ppid} ${startTicksOf(process.ppid)}\n`);
  await expect(lockState(folder)).rejects.toMatchObject({
    message: expect.stringContaining(`process ${process.ppid}`),
    advice: expect.stringContaining('SVC_HOME'),
  });
});

it.each([
  ['a process that has ended', '4194303 1\n'],
  ['a number that another process has now', `${process.ppid} 1\n`],
  ['garbage', 'what?'],
  ['nothing', ''],
])('ignores a stale claim of %s', async (_name, text) => {
  writeFileSync(path(), text);
  const free = await lockState(folder);
  expect(holderOf(`${process.pid} ${startTicksOf(process.pid)}\n`)).toBe(process.pid);
  free();
});

describe('on a full disk', () => {
  /** The lock file is accessed first: the third call creates the claim. */
  const CLAIM = 3;
  beforeEach(async () => (await lockState(folder))());

  it.each([
    ['ENOSPC', 'gateway.pid could not be written because the disk is full (ENOSPC)'],
    ['EIO', 'gateway.pid could not be written (EIO)'],
  ] as const)(
    '%s: the kernel lock is sufficient, and the missing claim is reported',
    async (kind, expected) => {
      const reasons: string[] = [];
      let free = () => {};
      const { error } = await withFault({ root: folder, kind, at: CLAIM }, async () => {
        free = await lockState(folder, (reason) => reasons.push(reason));
      });
      expect({ error, reasons }).toEqual({
        error: null,
        reasons: [expected],
      });
      expect(existsSync(path())).toBe(false);
      await expect(lockState(folder)).rejects.toMatchObject({
        message: expect.stringContaining('Another gateway'),
      });
      free();
      (await lockState(folder))();
    },
  );

  it.skipIf(!mayMount)('holds the lock on a real one, without space for a journal', () => {
    const script = `const { lockState } = await import(process.argv[1]);
      (await lockState(process.argv[2]))();
      (await import('node:fs')).rmSync(process.argv[2] + '/gateway.pid', { force: true });
      try { (await import('node:fs')).writeFileSync(process.argv[2] + '/fill', Buffer.alloc(4e6)); } catch {}
      await lockState(process.argv[2], (reason) => console.log(reason));
      process.exit();`;
    const shellArgs = ['mount -t tmpfs -o size=1m disk "$0" && exec "$@"', folder, process.execPath];
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script, FILE, folder];
    const done = spawnSync('unshare', [...apart, '/bin/sh', '-c', ...shellArgs, ...args], {
      encoding: 'utf8',
    });
    expect(done).toMatchObject({
      status: 0,
      stdout: 'gateway.pid could not be written because the disk is full (ENOSPC)\n',
      stderr: '',
    });
  });

  it.each([
    ['when nothing else can be locked', 'cut', 1],
    ['for another reason', 'EROFS', CLAIM],
  ] as const)('%s reports a readable error, and leaves nothing locked', async (_name, kind, at) => {
    const { error } = await withFault({ root: folder, kind, at }, () => lockState(folder));
    expect(error).toBeInstanceOf(SetupError);
    expect((error as SetupError).message).toContain(`${folder} is not writable`);
    (await lockState(folder))();
  });
});

it('refuses while an invisible process holds the lock', async () => {
  const free = await lockState(folder);
  writeFileSync(path(), '4194303 1\n');
  await expect(lockState(folder)).rejects.toMatchObject({
    message: `Another gateway (in another container) works on ${folder}.`,
    advice: expect.stringContaining('SVC_HOME'),
  });
  free();
  (await lockState(folder))();
});

it('a killed holder does not block the next start', { timeout: 30_000 }, async () => {
  const script = `const { lockState } = await import(process.argv[1]);
    globalThis.free = await lockState(process.argv[2]);
    console.log('held');
    setInterval(() => {}, 1000);`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script, FILE, folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  await expect(lockState(folder)).rejects.toMatchObject({
    message: `Another gateway (process ${child.pid}) works on ${folder}.`,
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  (await lockState(folder))();
  expect(existsSync(path())).toBe(false);
});
