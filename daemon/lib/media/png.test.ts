import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawnPng } from '../../test/harness/drawn-png.ts';
import { InvalidPngError, readPng } from './png.ts';

const MOST = 4096;
const whole = drawnPng({ width: 24, height: 16, seed: 1 });
const noted = drawnPng({ width: 24, height: 16, seed: 1, notes: { prompt: 'a secret cat' } });

test('a picture is what it was, without its notes', () => {
  expect(readPng(whole, MOST)).toEqual({ width: 24, height: 16, bytes: whole });
  expect(noted.includes('a secret cat')).toBe(true);
  expect(readPng(noted, MOST).bytes.equals(whole)).toBe(true);
});

test('bytes after its end are left out', () => {
  expect(readPng(Buffer.concat([whole, Buffer.from('<script>')]), MOST).bytes.equals(whole)).toBe(true);
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
  ['60,000 pixels, checksum not mended', withSide(60_000)],
])('%s is refused', (_, bytes) => {
  expect(() => readPng(bytes, MOST)).toThrow(InvalidPngError);
});

test('sides out of bounds are refused', () => {
  expect(() => readPng(whole, 23)).toThrow('sides are out of bounds');
  expect(() => readPng(drawnPng({ width: 0, height: 16, seed: 1 }), MOST)).toThrow('sides are out of bounds');
});

test('every cut and every changed byte that counts is found', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: whole.length - 1 }), (at) => {
      expect(() => readPng(whole.subarray(0, at), MOST)).toThrow(InvalidPngError);
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] as number) ^ 0x41;
      expect(() => readPng(changed, MOST)).toThrow(InvalidPngError);
    }),
  );
});

test('no bytes crash it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => readPng(Buffer.concat([whole.subarray(0, 8), bytes]), MOST)).toThrow(InvalidPngError);
    }),
  );
});
