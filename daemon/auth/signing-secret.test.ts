import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SetupError } from '../lib/setup-error.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openSigningSecret, secretFileProblem } from './signing-secret.ts';

const folder = scratch;
const uid = process.geteuid?.() ?? 0;

async function refused(file: string, message: RegExp): Promise<void> {
  const before = statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file) : null;
  const error = await openSigningSecret(file).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SetupError);
  expect((error as SetupError).message).toMatch(message);
  expect((error as SetupError).advice).toMatch(/secret\.bin/);
  if (before) expect(readFileSync(file)).toEqual(before);
}

describe('signing secret', () => {
  it('K11 is created at first use: 32 random bytes, mode 0600, no other file, the same at the next start', async () => {
    const dir = folder();
    const file = join(dir, 'secret.bin');
    const first = await openSigningSecret(file);
    expect(readFileSync(file)).toEqual(first.current());
    expect(first.current()).toHaveLength(32);
    expect(statSync(file).mode & 0o7777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['secret.bin']);
    const reopened = await openSigningSecret(file);
    expect(reopened.current()).toEqual(first.current());
    expect([first.created, reopened.created]).toEqual([true, false]);
    const other = await openSigningSecret(join(folder(), 'secret.bin'));
    expect(other.current()).not.toEqual(first.current());
  });

  it.each([0, 31, 33, 64])('K11 a file of %i bytes refuses the start and is not replaced', async (size) => {
    const file = join(folder(), 'secret.bin');
    writeFileSync(file, Buffer.alloc(size, 7), { mode: 0o600 });
    await refused(file, new RegExp(`has ${size} bytes instead of 32`));
  });

  it.each([0o644, 0o640, 0o604, 0o620, 0o700, 0o4600])('K11 mode %o refuses the start', async (mode) => {
    const file = join(folder(), 'secret.bin');
    writeFileSync(file, Buffer.alloc(32, 7));
    chmodSync(file, mode);
    await refused(file, /wider than 0600/);
  });

  it('K11 the narrower mode 0400 is accepted', async () => {
    const file = join(folder(), 'secret.bin');
    writeFileSync(file, Buffer.alloc(32, 7), { mode: 0o400 });
    expect((await openSigningSecret(file)).current()).toEqual(Buffer.alloc(32, 7));
  });

  it('K11 a symbolic link, a directory, a device and a dangling link refuse the start', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'real'), Buffer.alloc(32, 7), { mode: 0o600 });
    symlinkSync('real', join(dir, 'link'));
    symlinkSync('nowhere', join(dir, 'dangling'));
    mkdirSync(join(dir, 'dir'));
    await refused(join(dir, 'link'), /symlink/);
    await refused(join(dir, 'dangling'), /symlink/);
    await refused(join(dir, 'dir'), /directory/);
    await refused('/dev/null', /special file/);
    expect(readdirSync(dir).sort()).toEqual(['dangling', 'dir', 'link', 'real']);
  });

  it('K11 a folder that is missing refuses the start', async () => {
    await refused(join(folder(), 'none', 'secret.bin'), /secret\.bin could not be written \(ENOENT\)/);
  });

  it('K11 a file of another user refuses the start', async () => {
    const file = join(folder(), 'secret.bin');
    await openSigningSecret(file);
    await expect(openSigningSecret(file, uid + 1)).rejects.toThrow(/belongs to user id/);
    if (uid === 0) {
      chownSync(file, 65_534, 65_534);
      await refused(file, /belongs to user id 65534/);
    }
  });

  it('K11 names the first fault of a file', () => {
    const good = { kind: 'file', size: 32, uid: 5, mode: 0o100600 } as const;
    expect(secretFileProblem(good, 5)).toBeNull();
    expect(secretFileProblem({ ...good, kind: 'other' }, 5)).toMatch(/special file/);
    expect(secretFileProblem({ ...good, uid: 6 }, 5)).toMatch(/belongs to user id 6/);
    expect(secretFileProblem({ ...good, mode: 0o100606 }, 5)).toMatch(/mode 0606/);
    expect(secretFileProblem({ ...good, size: 33 }, 5)).toMatch(/33 bytes/);
  });

  it('K11 waits for a file that is still being written', async () => {
    const file = join(folder(), 'secret.bin');
    writeFileSync(file, Buffer.alloc(32, 7), { mode: 0o600 });
    truncateSync(file, 10);
    const opened = openSigningSecret(file);
    writeFileSync(file, Buffer.alloc(32, 9));
    expect((await opened).current()).toEqual(Buffer.alloc(32, 9));
  });

  it('K11 one of many concurrent first starts creates the secret, and all read it', async () => {
    const file = join(folder(), 'secret.bin');
    const program = join(folder(), 'start.ts');
    writeFileSync(
      program,
      `import { openSigningSecret } from ${JSON.stringify(join(import.meta.dirname, 'signing-secret.ts'))};
       process.once('message', async () => process.send((await openSigningSecret(${JSON.stringify(file)})).current().toString('hex')));
       process.send('ready');`,
    );
    const children = [1, 2, 3].map(() => fork(program, { env: {}, execArgv: [] }));
    try {
      await Promise.all(children.map((child) => once(child, 'message')));
      const answers = children.map((child) => once(child, 'message'));
      for (const child of children) child.send('go');
      const inside = Promise.all([openSigningSecret(file), openSigningSecret(file)]);
      const secrets = new Set((await Promise.all(answers)).map(([hex]) => hex));
      for (const secret of await inside) secrets.add(secret.current().toString('hex'));
      expect([...secrets]).toEqual([readFileSync(file).toString('hex')]);
    } finally {
      for (const child of children) child.kill();
    }
  });

  it('renew replaces the file first and then the live secret', async () => {
    const dir = folder();
    const file = join(dir, 'secret.bin');
    const secret = await openSigningSecret(file);
    const old = secret.current();
    await secret.renew();
    expect(secret.current()).not.toEqual(old);
    expect(readFileSync(file)).toEqual(secret.current());
    expect(statSync(file).mode & 0o7777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['secret.bin']);
  });

  it('after many concurrent renewals the last secret is active and in the file', async () => {
    const file = join(folder(), 'secret.bin');
    const secret = await openSigningSecret(file);
    for (let round = 0; round < 40; round++) {
      await Promise.all([secret.renew(), secret.renew(), secret.renew()]);
      expect(readFileSync(file)).toEqual(secret.current());
    }
  });

  it('a failed renewal does not block the next', async () => {
    const file = join(folder(), 'secret.bin');
    const secret = await openSigningSecret(file);
    unlinkSync(file);
    symlinkSync('/nowhere/at/all', file);
    const failed = secret.renew();
    await expect(failed).rejects.toThrow(/symbolic link/);
    unlinkSync(file);
    await secret.renew();
    expect(readFileSync(file)).toEqual(secret.current());
  });

  it('renew keeps the old secret when it cannot write', async () => {
    const dir = folder();
    const file = join(dir, 'secret.bin');
    const secret = await openSigningSecret(file);
    const old = secret.current();
    const broken = await openSigningSecret(file);
    unlinkSync(file);
    symlinkSync('/nowhere/at/all', file);
    await expect(broken.renew()).rejects.toThrow(/symbolic link/);
    expect(broken.current()).toEqual(old);
    broken.renewInMemory();
    expect(broken.current()).toHaveLength(32);
    expect(broken.current()).not.toEqual(old);
  });
});
