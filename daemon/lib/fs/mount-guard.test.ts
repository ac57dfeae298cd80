import { expect, test, vi } from 'vitest';
import { DiskTimeout, MountGuard } from './mount-guard.ts';

const neverResolves = () => new Promise<never>(() => {});

test('returns the result, also a rejection', async () => {
  const mountGuard = new MountGuard({ mounts: () => [] });
  expect(await mountGuard.run('/a', async () => 7)).toBe(7);
  const refusal = new Error('EACCES');
  await expect(mountGuard.run('/a', () => Promise.reject(refusal))).rejects.toBe(refusal);
});

test('an unresponsive mount is not used until it has responded', async () => {
  const mountGuard = new MountGuard({ mounts: () => [], timeoutMs: 10 });
  const { promise, resolve } = Promise.withResolvers<number>();
  await expect(mountGuard.run('/a', () => promise)).rejects.toBeInstanceOf(DiskTimeout);
  const question = vi.fn(async () => 1);
  await expect(mountGuard.run('/a', question)).rejects.toBeInstanceOf(DiskTimeout);
  expect(question).not.toHaveBeenCalled();
  expect(await mountGuard.run('/b', question)).toBe(1);
  resolve(5);
  expect(await vi.waitFor(() => mountGuard.run('/a', question), 20_000)).toBe(1);
});

test('runs one operation at a time per mount, and other mounts concurrently', async () => {
  const mountGuard = new MountGuard({ mounts: () => [] });
  const first = Promise.withResolvers<void>();
  const started: string[] = [];
  const question = (name: string, answer?: Promise<void>) => async () => {
    started.push(name);
    await answer;
  };
  const all = [
    mountGuard.run('/a', question('one', first.promise)),
    mountGuard.run('/a', question('two')),
    mountGuard.run('/b', question('three')),
  ];
  await all[2];
  expect(started).toEqual(['one', 'three']);
  first.resolve();
  await Promise.all(all);
  expect(started).toEqual(['one', 'three', 'two']);
});

test('runs nothing when too many mounts are unresponsive', async () => {
  const mountGuard = new MountGuard({ mounts: () => [], timeoutMs: 10, maxUnresponsive: 2 });
  const silent = ['/a', '/b'].map((path) => mountGuard.run(path, neverResolves).catch(() => {}));
  await Promise.all(silent);
  const question = vi.fn(async () => 1);
  await expect(mountGuard.run('/c', question)).rejects.toThrow('too many other disks do not answer');
  expect(question).not.toHaveBeenCalled();
});

test('folders of one mount share its queue', async () => {
  const mountGuard = new MountGuard({ timeoutMs: 10, mounts: () => ['/nas'] });
  await expect(mountGuard.run('/nas/a', neverResolves)).rejects.toThrow('its disk does not answer');
  await expect(mountGuard.run('/nas/b', async () => 1)).rejects.toThrow('its disk does not answer');
  expect(await mountGuard.run('/other', async () => 1)).toBe(1);
});
