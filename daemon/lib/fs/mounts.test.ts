import { expect, test } from 'vitest';
import { mountOf, mounts, parseMounts } from './mounts.ts';

const TEXT = `22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
90 22 0:50 / /mnt/nas rw,relatime shared:1 - nfs4 nas:/export rw
91 22 0:51 / /mnt/my\\040disk rw - ext4 /dev/sdb1 rw

`;

test('decodes mount points to paths', () => {
  expect(parseMounts(TEXT)).toEqual(['/', '/mnt/nas', '/mnt/my disk']);
  expect(parseMounts('nonsense')).toEqual([]);
});

test.each([
  ['/mnt/nas/models', '/mnt/nas'],
  ['/mnt/nas', '/mnt/nas'],
  ['/mnt/nas/deep/models', '/mnt/nas/deep'],
  ['/mnt/nas2/models', null],
  ['/home/models', null],
])('%s is on %s', (path, point) => {
  expect(mountOf(path, ['/', '/mnt/nas', '/mnt/nas/deep'])).toBe(point);
});

test('reads the mounts of this machine', () => {
  expect(mounts()).toContain('/');
});
