import { expect, test } from 'vitest';
import { readHostMemory } from './host-memory.ts';
import { fakeMachine } from './testing/fake-machine.ts';
import { parseArcstats } from './zfs-cache.ts';

const KIB = 1024;
const GIB = 1024 ** 3;
const arcstats = (size: number, min: number) =>
  [
    '13 1 0x01 147 39984 4270000000 98765432100000',
    'name                            type data',
    'hits                            4    123456',
    'c                               4    9000000000',
    `c_min                           4    ${min}`,
    'c_max                           4    16000000000',
    `size                            4    ${size}`,
    'compressed_size                 4    77',
  ].join('\n');
const MEMINFO = 'MemTotal:       33554432 kB\nMemAvailable:   10485760 kB\n';

function availableOn(files: Record<string, string>): number {
  const machine = fakeMachine('no-gpu', { 'proc/meminfo': MEMINFO, ...files });
  const { availableBytes } = readHostMemory(machine.root);
  machine.remove();
  return availableBytes;
}
const STATS = 'proc/spl/kstat/zfs/arcstats';

test('counts the releasable cache as available', () => {
  expect(availableOn({})).toBe(10 * GIB);
  expect(availableOn({ [STATS]: arcstats(9 * GIB, GIB) })).toBe(18 * GIB);
  expect(availableOn({ [STATS]: arcstats(GIB / 2, GIB) })).toBe(10 * GIB);
});

test("never exceeds the machine's memory", () => {
  expect(availableOn({ [STATS]: arcstats(99 * GIB, GIB) })).toBe(33554432 * KIB);
});

test("a container with its own figures does not count the host's cache", () => {
  const mounts =
    '700 690 0:55 /proc/meminfo /proc/meminfo rw,nosuid,nodev,relatime - fuse.lxcfs lxcfs rw,user_id=0\n';
  const files = { [STATS]: arcstats(9 * GIB, GIB), 'proc/self/mountinfo': mounts };
  expect(availableOn(files)).toBe(10 * GIB);
});

test('returns nothing for a file in another format', () => {
  expect(parseArcstats('size 4\n')).toBeNull();
  expect(availableOn({ [STATS]: 'nonsense' })).toBe(10 * GIB);
});
