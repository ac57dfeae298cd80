import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawnPng } from '../../test/harness/drawn-png.ts';
import { InvalidPngError, readPng } from './png.ts';

const MAX_PIXELS = 4096;
const whole = drawnPng({ width: 24, height: 16, seed: 1 });
const noted = drawnPng({ width: 24, height: 16, seed: 1, notes: { prompt: 'a secret cat' } });

test('returns the image without metadata', () => {
  expect(readPng(whole, MAX_PIXELS)).toEqual({ width: 24, height: 16, bytes: whole });
  expect(noted.includes('a secret cat')).toBe(true);
  expect(readPng(noted, MAX_PIXELS).bytes.equals(whole)).toBe(true);
});

test('drops bytes after the end', () => {
  expect(readPng(Buffer.concat([whole, Buffer.from('<script>')]), MAX_PIXELS).bytes.equals(whole)).toBe(true);
});

const withSide = (side: number) => {
  const bytes = Buffer.from(whole);
  bytes.writeUInt32BE(side, 16);
  return bytes;
};

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a page', Buffer.from('<html>')],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['a signature alone', whole.subarray(0, 8)],
  ['60,000 pixels, checksum not corrected', withSide(60_000)],
])('%s is refused', (_, bytes) => {
  expect(() => readPng(bytes, MAX_PIXELS)).toThrow(InvalidPngError);
});

test('refuses dimensions out of bounds', () => {
  expect(() => readPng(whole, 23)).toThrow('sides are out of bounds');
  expect(() => readPng(drawnPng({ width: 0, height: 16, seed: 1 }), MAX_PIXELS)).toThrow(
    'sides are out of bounds',
  );
});

test('detects every truncation and every relevant changed byte', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: whole.length - 1 }), (at) => {
      expect(() => readPng(whole.subarray(0, at), MAX_PIXELS)).toThrow(InvalidPngError);
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] as number) ^ 0x41;
      expect(() => readPng(changed, MAX_PIXELS)).toThrow(InvalidPngError);
    }),
  );
});

test('no input crashes it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => readPng(Buffer.concat([whole.subarray(0, 8), bytes]), MAX_PIXELS)).toThrow(
        InvalidPngError,
      );
    }),
  );
});
