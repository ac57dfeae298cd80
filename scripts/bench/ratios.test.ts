import { expect, test } from 'vitest';
import { median, rank, ratioTo, roundByRound, spreadOf } from './ratios.ts';

test('the median of an even number of values lies between the middle two', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([9, Number.NaN, 1, 5])).toBe(5);
  expect(median([])).toBeNaN();
});

test('ratios are computed per round; a round without both values is ignored', () => {
  expect(ratioTo([2, 9, 8], [1, 3, 2])).toEqual({ median: 3, min: 2, max: 4 });
  expect(ratioTo([2, 9], [1])).toEqual({ median: 2, min: 2, max: 2 });
  expect(ratioTo([1], undefined)).toBeNull();
  expect(ratioTo([1], [0])).toBeNull();
});

test('the spread ignores rounds without a value', () => {
  expect(spreadOf([3, Number.NaN, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  expect(spreadOf([])).toBeNull();
  expect(roundByRound([5, Number.NaN, 9], [1, 1, 2], (value, base) => value - base)).toEqual({
    median: 5.5,
    min: 4,
    max: 7,
  });
});

test('a rank of few values is one of them', () => {
  expect(rank([9, 1, 5], 0.5)).toBe(5);
  expect(rank([9, 1, 5], 0.99)).toBe(9);
  expect(rank([], 0.5)).toBeNaN();
});
