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

/** Takes a room, writes one letter all over it and gives it back. */
function used(bytes: number, letter: string): Buffer {
  const room = acquireBuffer(bytes).fill(letter);
  returnBuffer(room.buffer as ArrayBuffer);
  return room;
}

/** How much memory a room of so many bytes has that is asked for now; it is not given back. */
const roomFor = (bytes: number): number => acquireBuffer(bytes).buffer.byteLength;

test('a room that is given back is empty to who had it, and serves a body of up to half its size next', () => {
  const first = used(16 * MIB, 'a');
  expect([first.length, first.buffer.byteLength, ownsBuffer(first.buffer)]).toEqual([0, 0, false]);
  expect(roomFor(8 * MIB - 1)).toBe(8 * MIB - 1);
  expect(roomFor(16 * MIB + 1)).toBe(20 * MIB);
  const next = acquireBuffer(8 * MIB);
  expect([next.length, next.buffer.byteLength, ownsBuffer(next.buffer)]).toEqual([8 * MIB, 16 * MIB, true]);
  // It is the same memory, and nobody else is given it.
  expect(next.subarray(0, 3).toString()).toBe('aaa');
  expect(roomFor(8 * MIB)).toBe(8 * MIB);
  expect(first.length).toBe(0);
});

test('a body that is a little longer than the last finds its room: the next turn of a long talk', () => {
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

test('of several rooms the shortest serves that is long enough, and of those the one that was used last', () => {
  const rooms = [16, 12, 12, 24].map((size, at) => acquireBuffer(size * MIB).fill(String(at)));
  for (const { buffer } of rooms) returnBuffer(buffer as ArrayBuffer);
  const taken = [9, 9, 9].map((size) =>
    acquireBuffer(size * MIB)
      .subarray(0, 1)
      .toString(),
  );
  expect(taken).toEqual(['2', '1', '0']);
  expect([9, 20].map((size) => roomFor(size * MIB) / MIB)).toEqual([12, 24]);
});

test('short rooms are not kept, and of long ones 64 MB at most', () => {
  expect(used(8 * MIB - 1, 'a').length).toBe(0);
  expect(roomFor(8 * MIB - 1)).toBe(8 * MIB - 1);
  const three = [32, 24, 20].map((size) => acquireBuffer(size * MIB));
  for (const { buffer } of three) returnBuffer(buffer as ArrayBuffer);
  expect(three.map(({ length }) => length)).toEqual([0, 0, 0]);
  // The first went for the last.
  expect([17, 20, 20].map((size) => roomFor(size * MIB) / MIB)).toEqual([20, 24, 20]);
  expect(used(65 * MIB, 'b').length).toBe(0);
  expect(roomFor(65 * MIB - 1)).toBe(68 * MIB);
});

test('what is kept goes half a minute after the last that came back', () => {
  used(16 * MIB, 'a');
  vi.advanceTimersByTime(29_000);
  used(9 * MIB, 'b');
  vi.advanceTimersByTime(29_000);
  expect(roomFor(15 * MIB)).toBe(16 * MIB);
  vi.advanceTimersByTime(1_000);
  expect(roomFor(7 * MIB)).toBe(7 * MIB);
  // And the next one is kept again.
  used(16 * MIB, 'c');
  expect(roomFor(15 * MIB)).toBe(16 * MIB);
});
