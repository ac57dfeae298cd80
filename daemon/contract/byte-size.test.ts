import { expect, it } from 'vitest';
import { exactByteSize, parseByteSize } from './byte-size.ts';

it.each([
  ['0', 0],
  ['1234', 1234],
  [' 4 GB ', 4_000_000_000],
  ['4GiB', 4 * 1024 ** 3],
  ['1.5 gib', 1.5 * 1024 ** 3],
  ['300 mb', 300_000_000],
  ['64 KiB', 65_536],
  ['12 B', 12],
  ['2 TiB', 2 * 1024 ** 4],
  ['4 G', null],
  ['-4 GB', null],
  ['four', null],
  ['', null],
  ['1e9', null],
  ['1.5', null],
])('parseByteSize(%j)', (text, bytes) => expect(parseByteSize(text)).toBe(bytes));

it.each([
  [0, '0'],
  [1234, '1234'],
  [4_000_000_000, '4 GB'],
  [4 * 1024 ** 3, '4 GiB'],
  [1.5 * 1024 ** 3, '1536 MiB'],
  [300_000_000, '300 MB'],
])('exactByteSize(%d) is %s and parses back', (bytes, text) => {
  expect(exactByteSize(bytes)).toBe(text);
  expect(parseByteSize(text)).toBe(bytes);
});
