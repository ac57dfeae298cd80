import { describe, expect, it } from 'vitest';
import { ago, byteRate, byteSize, count, duration, steadyDuration, tokenRate } from './format.ts';

describe('numbers carry their unit', () => {
  it.each([
    [0, '0 bytes'],
    [1000, '1,000 bytes'],
    [20_480, '20 KiB'],
    [13 * 1024 ** 2, '13 MiB'],
    [1023.9 * 1024 ** 2, '1.0 GiB'],
    [3.44 * 1024 ** 3, '3.4 GiB'],
    [126.4 * 1024 ** 3, '126 GiB'],
    [2 * 1024 ** 4, '2.0 TiB'],
  ])('byteSize(%d)', (bytes, text) => expect(byteSize(bytes)).toBe(text));

  it('rates and counts', () => {
    expect(tokenRate(7.25)).toBe('7.3 tok/s');
    expect(tokenRate(112.6)).toBe('113 tok/s');
    expect([850 * 1024, 12.5 * 1024 ** 2, 110.4 * 1024 ** 2].map(byteRate)).toEqual([
      '850 KiB/s',
      '12.5 MiB/s',
      '110 MiB/s',
    ]);
    expect(count(12345)).toBe('12,345');
  });
});

describe('duration chooses a suitable unit', () => {
  it.each([
    [-5, '0 ms'],
    [850, '850 ms'],
    [1240, '1.2 sec'],
    [42_900, '42 sec'],
    [60_000, '1 min'],
    [27_725_000, '7 hr 42 min'],
    [3_600_000, '1 hr'],
    [90_000_000, '1 day 1 hr'],
  ])('duration(%d)', (ms, text) => expect(duration(ms)).toBe(text));
});

describe('steadyDuration', () => {
  it.each([
    [-1, '0 ms'],
    [9_870, '9 sec'],
    [59_999, '59 sec'],
    [28_799_000, '7 hr 59 min'],
  ])('steadyDuration(%d)', (ms, text) => expect(steadyDuration(ms)).toBe(text));
});

describe('ago', () => {
  const now = 1_700_000_000_000;
  it.each([
    [now - 2000, 'now'],
    [now - 30_000, '30 sec. ago'],
    [now - 125_000, '2 min. ago'],
    [now - 7_300_000, '2 hr. ago'],
    [now - 86_400_000, 'yesterday'],
    [now + 15_000, 'in 15 sec.'],
  ])('ago(%d)', (at, text) => expect(ago(at, now)).toBe(text));
});
