import { describe, expect, it } from 'vitest';
import { clock, count, duration, rate } from './format.ts';

describe('duration', () => {
  it.each([
    [undefined, '-'],
    [0.4, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [12_400, '12 s'],
    [61_000, '1 min 1 s'],
    [3_723_000, '1 h 2 min'],
  ])('%s is %s', (value, text) => expect(duration(value)).toBe(text));
});

describe('clock', () => {
  it('names the date only when it is another day', () => {
    const now = new Date(2030, 0, 2, 12, 0, 0);
    expect(clock(new Date(2030, 0, 2, 3, 4, 5), now)).toBe('03:04:05');
    expect(clock(new Date(2030, 0, 1, 3, 4, 5), now)).toBe('2030-01-01 03:04:05');
  });
});

it('a rate has few digits', () =>
  expect([490.416, 12.345, 7, null].map(rate)).toEqual(['490', '12.3', '7', '-']));

it('count is a number or a dash', () => expect([count(0), count(null)]).toEqual(['0', '-']));
