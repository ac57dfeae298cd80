import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { BodyBuffer } from './body-buffer.ts';
import { releaseWhenWritten } from './buffer-release.ts';
import { acquireBuffer, clearBufferPool, returnBuffer } from './large-buffer-pool.ts';

// Pooled buffers of other tests would be reused here.
beforeEach(clearBufferPool);

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

test('allocates a body slightly longer than a step at once, without a copy at its end', () => {
  const LENGTH = 18 * 1024 * 1024;
  const body = new BodyBuffer(LENGTH);
  const piece = (bytes: number) => body.push(Buffer.from(new ArrayBuffer(bytes)));
  for (let left = LENGTH - 1; left > 0; left -= 65_536) piece(Math.min(left, 65_536));
  piece(1);
  const { buffer } = body.take();
  expect(buffer.byteLength).toBe(20 * 1024 * 1024);
  returnBuffer(buffer as ArrayBuffer);
  // A 16 MB buffer would be in the pool if one had been allocated on the way.
  expect(acquireBuffer(9 * 1024 * 1024).buffer.byteLength).toBe(12 * 1024 * 1024);
});

test('a discarded long body returns its buffer to the pool at once', () => {
  const LENGTH = 11 * 1024 * 1024;
  const body = new BodyBuffer(LENGTH);
  for (let left = LENGTH; left > 65_536; left -= 65_536) {
    body.push(Buffer.from(new ArrayBuffer(65_536)).fill('c'));
  }
  body.discard();
  expect(body.length).toBe(0);
  expect(body.take()).toHaveLength(0);
  const pooled = acquireBuffer(LENGTH);
  expect([pooled.length, pooled.subarray(0, 3).toString()]).toEqual([LENGTH, 'ccc']);
});

test('a released long body leaves its buffer to the next one, which contains nothing of it', () => {
  const LENGTH = 9 * 1024 * 1024;
  const gather = (letter: string, length: number) => {
    const body = new BodyBuffer(length);
    for (let left = length; left > 0; left -= 65_536) {
      body.push(Buffer.from(new ArrayBuffer(Math.min(left, 65_536))).fill(letter));
    }
    return body.take();
  };
  const first = gather('a', LENGTH);
  releaseWhenWritten(first);
  expect(first.length).toBe(0);
  const second = gather('b', LENGTH - 1);
  expect(second.buffer.byteLength).toBe(12 * 1024 * 1024);
  expect(second.equals(Buffer.alloc(LENGTH - 1, 'b'))).toBe(true);
  releaseWhenWritten(second);
  expect(second.length).toBe(0);
});
