import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { processTree, processTreeMemory, proportionalTreeMemory } from './process-memory.ts';

const KIB = 1024;
let proc: string;

interface Sizes {
  readonly anonymous: number;
  readonly files: number;
  readonly shared?: number;
  readonly swap?: number;
}

beforeEach(() => {
  proc = scratch();
});

/** Writes a process. `children` maps its threads to the pids that they started. */
function member(pid: number, sizes: Sizes, children: Readonly<Record<string, string>> = {}): void {
  const { anonymous, files, shared = 0, swap = 0 } = sizes;
  const folder = join(proc, String(pid));
  for (const [thread, pids] of Object.entries<string>({ [pid]: '', ...children })) {
    mkdirSync(join(folder, 'task', thread), { recursive: true });
    writeFileSync(join(folder, 'task', thread, 'children'), pids);
  }
  const lines = {
    VmRSS: anonymous + files + shared,
    RssAnon: anonymous,
    RssFile: files,
    RssShmem: shared,
    VmSwap: swap,
  };
  writeFileSync(join(folder, 'status'), text(lines));
}

const text = (lines: Readonly<Record<string, number>>) =>
  Object.entries(lines)
    .map(([name, kib]) => `${name}:\t${kib} kB\n`)
    .join('');

function proportional(pid: number, { anonymous, files, shared = 0, swap = 0 }: Sizes): void {
  const lines = {
    Rss: 9_999,
    Pss: 1,
    Pss_Anon: anonymous,
    Pss_File: files,
    Pss_Shmem: shared,
    SwapPss: swap,
  };
  writeFileSync(join(proc, String(pid), 'smaps_rollup'), `0-f ---p 0 00:00 0 [rollup]\n${text(lines)}`);
}

describe('processTree', () => {
  it('finds the children of every thread, and theirs', () => {
    member(42, { anonymous: 1, files: 0 }, { 42: '43 ', 77: '50 51 ' });
    member(50, { anonymous: 1, files: 0 }, { 50: '60 ' });
    expect(processTree(42, proc).sort()).toEqual([42, 43, 50, 51, 60]);
  });

  it('is bounded', () => {
    const many = Array.from({ length: 900 }, (_, i) => 1_000 + i).join(' ');
    member(42, { anonymous: 1, files: 0 }, { 42: many });
    member(1_000, { anonymous: 1, files: 0 }, { 1000: many });
    expect(processTree(42, proc)).toHaveLength(901);
  });
});

describe('processTreeMemory', () => {
  it('adds up private memory, and counts files and shared memory once', () => {
    member(42, { anonymous: 10, files: 100, shared: 8, swap: 2 }, { 42: '43 44 ' });
    member(43, { anonymous: 20, files: 90, shared: 9 }, { 43: '45 ' });
    member(45, { anonymous: 5, files: 1 });
    expect(processTreeMemory(42, proc)).toEqual({ anonymous: 46 * KIB, resident: 146 * KIB });
    expect(processTreeMemory(99, proc)).toBeNull();
  });

  it('counts everything as private where the kernel does not split it', () => {
    member(42, { anonymous: 1, files: 1 });
    writeFileSync(join(proc, '42', 'status'), 'VmRSS:\t300 kB\n');
    expect(processTreeMemory(42, proc)).toEqual({ anonymous: 300 * KIB, resident: 300 * KIB });
  });

  it('reads the current process', () => {
    const memory = processTreeMemory(process.pid);
    expect(memory?.anonymous).toBeGreaterThan(1 << 20);
    expect(memory?.resident).toBeGreaterThan(memory?.anonymous ?? Number.POSITIVE_INFINITY);
    expect(processTreeMemory(2 ** 30)).toBeNull();
  });
});

describe('proportionalTreeMemory', () => {
  it('adds up what the kernel divided among the processes', async () => {
    member(42, { anonymous: 10, files: 600 }, { 42: '43 ' });
    member(43, { anonymous: 20, files: 600 });
    proportional(42, { anonymous: 10, files: 300, shared: 4, swap: 1 });
    proportional(43, { anonymous: 20, files: 300, shared: 4 });
    expect(await proportionalTreeMemory(42, proc)).toEqual({ anonymous: 39 * KIB, resident: 639 * KIB });
  });

  it('takes the resident size of a process that it may not read, and of an old kernel', async () => {
    member(42, { anonymous: 10, files: 50 }, { 42: '43 44 ' });
    member(43, { anonymous: 20, files: 60, shared: 5 });
    member(44, { anonymous: 30, files: 70, shared: 6 });
    proportional(42, { anonymous: 10, files: 40 });
    writeFileSync(join(proc, '44', 'smaps_rollup'), 'Rss:\t1 kB\nPss:\t1 kB\n');
    expect(await proportionalTreeMemory(42, proc)).toEqual({ anonymous: 66 * KIB, resident: 176 * KIB });
  });

  it('a process that ends in between is left out; null when it is the first one', async () => {
    member(42, { anonymous: 10, files: 50 }, { 42: '43 ' });
    expect(await proportionalTreeMemory(42, proc)).toEqual({ anonymous: 10 * KIB, resident: 60 * KIB });
    rmSync(join(proc, '42', 'status'));
    expect(await proportionalTreeMemory(42, proc)).toBeNull();
  });

  it('reads the current process', async () => {
    const [all, own] = [processTreeMemory(process.pid), await proportionalTreeMemory(process.pid)];
    expect(own?.resident).toBeGreaterThan(1 << 20);
    expect(own?.resident).toBeLessThan(2 * (all?.resident ?? 0));
  });
});
