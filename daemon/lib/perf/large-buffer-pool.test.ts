import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { acquireBuffer, clearBufferPool, ownsBuffer, returnBuffer } from './large-buffer-pool.ts';

const MIB = 1024 * 1024;

beforeEach(() => {
  clearBufferPool();
  vi.useFakeTimers();
});
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

/** Acquires a buffer, fills it with one letter and returns it. */
function acquireFilled(bytes: number, letter: string): Buffer {
  const acquired = acquireBuffer(bytes).fill(letter);
  returnBuffer(acquired.buffer as ArrayBuffer);
  return acquired;
}

/** Returns the memory size of a newly acquired buffer of `bytes` bytes. The buffer is not returned. */
const bufferSize = (bytes: number): number => acquireBuffer(bytes).buffer.byteLength;

test('a returned buffer is detached, and serves the next body of at least half its size', () => {
  const first = acquireFilled(16 * MIB, 'a');
  expect([first.length, first.buffer.byteLength, ownsBuffer(first.buffer)]).toEqual([0, 0, false]);
  expect(bufferSize(8 * MIB - 1)).toBe(8 * MIB - 1);
  expect(bufferSize(16 * MIB + 1)).toBe(20 * MIB);
  const next = acquireBuffer(8 * MIB);
  expect([next.length, next.buffer.byteLength, ownsBuffer(next.buffer)]).toEqual([8 * MIB, 16 * MIB, true]);
  // It is the same memory, and it is not in the pool any more.
  expect(next.subarray(0, 3).toString()).toBe('aaa');
  expect(bufferSize(8 * MIB)).toBe(8 * MIB);
  expect(first.length).toBe(0);
});

test('a body slightly longer than the last one reuses its buffer: the next turn of a long conversation', () => {
  const first = acquireBuffer(17 * MIB).fill('a');
  const memory = first.buffer as ArrayBuffer;
  expect([first.length, memory.byteLength]).toEqual([17 * MIB, 20 * MIB]);
  returnBuffer(memory);
  expect(
    acquireBuffer(18 * MIB)
      .subarray(0, 3)
      .toString(),
  ).toBe('aaa');
});

test('uses the shortest sufficient buffer, and of those the most recent one', () => {
  const buffers = [16, 12, 12, 24].map((size, at) => acquireBuffer(size * MIB).fill(String(at)));
  for (const { buffer } of buffers) returnBuffer(buffer as ArrayBuffer);
  const letters = [9, 9, 9].map((size) =>
    acquireBuffer(size * MIB)
      .subarray(0, 1)
      .toString(),
  );
  expect(letters).toEqual(['2', '1', '0']);
  expect([9, 20].map((size) => bufferSize(size * MIB) / MIB)).toEqual([12, 24]);
});

test('does not pool short buffers, and pools at most 64 MB of long ones', () => {
  expect(acquireFilled(8 * MIB - 1, 'a').length).toBe(0);
  expect(bufferSize(8 * MIB - 1)).toBe(8 * MIB - 1);
  const three = [32, 24, 20].map((size) => acquireBuffer(size * MIB));
  for (const { buffer } of three) returnBuffer(buffer as ArrayBuffer);
  expect(three.map(({ length }) => length)).toEqual([0, 0, 0]);
  // The first one was freed for the last one.
  expect([17, 20, 20].map((size) => bufferSize(size * MIB) / MIB)).toEqual([20, 24, 20]);
  expect(acquireFilled(65 * MIB, 'b').length).toBe(0);
  expect(bufferSize(65 * MIB - 1)).toBe(68 * MIB);
});

test('clears the pool half a minute after the last return', () => {
  acquireFilled(16 * MIB, 'a');
  vi.advanceTimersByTime(29_000);
  acquireFilled(9 * MIB, 'b');
  vi.advanceTimersByTime(29_000);
  expect(bufferSize(15 * MIB)).toBe(16 * MIB);
  vi.advanceTimersByTime(1_000);
  expect(bufferSize(7 * MIB)).toBe(7 * MIB);
  // The next one is pooled again.
  acquireFilled(16 * MIB, 'c');
  expect(bufferSize(15 * MIB)).toBe(16 * MIB);
});
