import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { BodyBuffer } from './body-buffer.ts';
import { releaseWhenWritten } from './buffer-release.ts';

afterEach(() => vi.restoreAllMocks());

/** Records the buffers that are allocated from now on, and their sizes. */
function recordAllocations() {
  const buffers: Buffer[] = [];
  const sizes: number[] = [];
  const allocate = Buffer.allocUnsafeSlow;
  vi.spyOn(Buffer, 'allocUnsafeSlow').mockImplementation((bytes) => {
    const buffer = allocate(bytes);
    buffers.push(buffer);
    sizes.push(bytes);
    return buffer;
  });
  return { buffers, sizes };
}

test('returns the received bytes for any chunks and any expected length', () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 40 });
  const expected = fc.oneof(fc.constant(Number.NaN), fc.nat(20_000));
  fc.assert(
    fc.property(pieces, expected, fc.boolean(), (chunks, claimed, right) => {
      const whole = Buffer.concat(chunks);
      const body = new BodyBuffer(right ? whole.length : claimed);
      for (const piece of chunks) body.push(Buffer.from(piece));
      expect(body.length).toBe(whole.length);
      expect(body.take()).toEqual(whole);
      expect(body.length).toBe(0);
    }),
  );
});

test('does not copy a single chunk, and does not write further chunks into it', () => {
  const first = Buffer.from('first');
  const one = new BodyBuffer(5);
  one.push(first);
  expect(one.take().buffer).toBe(first.buffer);
  const two = new BodyBuffer(5);
  two.push(first);
  two.push(Buffer.from(' and second'));
  expect(two.take().toString()).toBe('first and second');
  expect(first.toString()).toBe('first');
});

test('detaches long chunks as soon as they have been copied', () => {
  const piece = (fill: string) => Buffer.from(new ArrayBuffer(64 * 1024)).fill(fill);
  const pieces = ['a', 'b', 'c'].map(piece);
  const whole = Buffer.concat(pieces);
  const body = new BodyBuffer(whole.length);
  for (const each of pieces) body.push(each);
  expect(body.take().equals(whole)).toBe(true);
  expect(pieces.map(({ length }) => length)).toEqual([0, 0, 0]);
});

test('a false length allocates only a multiple of the received bytes', () => {
  const body = new BodyBuffer(64 << 20);
  for (let piece = 0; piece < 4; piece++) body.push(Buffer.alloc(1_000));
  expect(body.take().buffer.byteLength).toBeLessThanOrEqual(16 * 4_000);
  const longer = new BodyBuffer(64 << 20);
  for (let piece = 0; piece < 10; piece++) longer.push(Buffer.alloc(100_000));
  expect(longer.take().buffer.byteLength).toBeLessThanOrEqual(1 << 20);
});

const PIECE = 64 * 1024;

/** Pushes a body of `length` bytes in pieces with separate memory. */
function fill(body: BodyBuffer, length: number, letter: string): void {
  for (let left = length; left > 0; left -= PIECE)
    body.push(Buffer.from(new ArrayBuffer(Math.min(left, PIECE))).fill(letter));
}

test('allocates a body slightly longer than a step at once, without a copy at its end', () => {
  const { sizes } = recordAllocations();
  const LENGTH = 18 * 1024 * 1024;
  const body = new BodyBuffer(LENGTH);
  fill(body, LENGTH, 'a');
  expect(body.take().byteLength).toBe(LENGTH);
  // A step of 16 MB would be copied for the last 2 MB.
  expect(sizes).toEqual([1024 * 1024, LENGTH]);
});

test('frees the memory of a discarded body and of each step before', () => {
  const { buffers } = recordAllocations();
  const body = new BodyBuffer(11 * 1024 * 1024);
  fill(body, 10 * 1024 * 1024, 'c');
  body.discard();
  expect(body.length).toBe(0);
  expect(body.take()).toHaveLength(0);
  expect(buffers.map(({ buffer }) => buffer.byteLength)).toEqual([0, 0]);
});

test.each([
  ['a body of the expected length', 9 * 1024 * 1024],
  ['a body of unknown length, whose buffer is longer', Number.NaN],
])('frees all memory of %s once it is released', (_, expected) => {
  const body = new BodyBuffer(expected);
  fill(body, 9 * 1024 * 1024, 'a');
  const bytes = body.take();
  const { buffer } = bytes;
  expect(bytes.equals(Buffer.alloc(9 * 1024 * 1024, 'a'))).toBe(true);
  releaseWhenWritten(bytes);
  expect([bytes.length, buffer.byteLength]).toEqual([0, 0]);
});
