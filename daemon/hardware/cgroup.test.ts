import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { parseCpuMax, readCgroup } from './cgroup.ts';

let root: string;
beforeEach(() => {
  root = scratch();
});

function files(contents: Record<string, string>) {
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

test('uses the tightest limit up to the root and its free bytes, excluding file cache', () => {
  files({
    'proc/self/cgroup': '0::/system.slice/app.service\n',
    'sys/fs/cgroup/system.slice/memory.max': '4000\n',
    'sys/fs/cgroup/system.slice/memory.current': '1500\n',
    'sys/fs/cgroup/system.slice/memory.stat': 'anon 1\nfile 600\ninactive_file 100\nactive_file 400\n',
    'sys/fs/cgroup/system.slice/app.service/memory.max': 'max\n',
    'sys/fs/cgroup/system.slice/cpu.max': '250000 100000\n',
  });
  expect(readCgroup(root)).toEqual({ memoryLimit: 4000, memoryLeft: 3000, cpus: 2.5 });
});

test('a wider limit shared with others may leave less', () => {
  const slice = 'sys/fs/cgroup/lab.slice';
  files({
    'proc/self/cgroup': '0::/lab.slice/app.service\n',
    [`${slice}/memory.max`]: '16000\n',
    [`${slice}/memory.current`]: '15000\n',
    [`${slice}/app.service/memory.max`]: '12000\n',
    [`${slice}/app.service/memory.current`]: '1000\n',
  });
  expect(readCgroup(root)).toMatchObject({ memoryLimit: 12000, memoryLeft: 1000 });
});

test('inside a container the group is the root of the visible tree', () => {
  files({ 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/memory.max': '4096\n' });
  expect(readCgroup(root)).toEqual({ memoryLimit: 4096, memoryLeft: 4096, cpus: null });
});

test('the old hierarchy encodes "no limit" as a huge number', () => {
  const group = 'sys/fs/cgroup/memory/box';
  files({
    'proc/self/cgroup': '4:memory:/box\n0::/\n',
    [`${group}/memory.limit_in_bytes`]: '9223372036854771712\n',
  });
  expect(readCgroup(root).memoryLimit).toBeNull();
  files({
    [`${group}/memory.limit_in_bytes`]: '8192\n',
    [`${group}/memory.usage_in_bytes`]: '1000\n',
    [`${group}/memory.stat`]: 'active_file 1\ntotal_inactive_file 300\ntotal_active_file 600\n',
  });
  expect(readCgroup(root)).toMatchObject({ memoryLimit: 8192, memoryLeft: 8092 });
});

test('no files mean no limit', () => {
  expect(readCgroup(root)).toEqual({ memoryLimit: null, memoryLeft: null, cpus: null });
  expect(parseCpuMax('max 100000')).toBeNull();
  expect(parseCpuMax(null)).toBeNull();
});
