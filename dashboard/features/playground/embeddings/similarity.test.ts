import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closest, cosine, similarities, strength } from './similarity.ts';

const vector = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 3, maxLength: 3 });

describe('similarity', () => {
  it.each([
    [[1, 0], [2, 0], 1],
    [[1, 0], [0, 3], 0],
    [[1, 0], [-5, 0], -1],
    [[0, 0], [1, 1], 0],
  ])('cosine of %j and %j', (a, b, value) => expect(cosine(a, b)).toBeCloseTo(value, 9));

  it('is symmetric, within its bounds, and one with itself', () => {
    fc.assert(
      fc.property(fc.array(vector, { maxLength: 6 }), (vectors) => {
        const matrix = similarities(vectors);
        for (const [at, row] of matrix.entries())
          for (const [other, value] of row.entries()) {
            expect(Math.abs(value)).toBeLessThanOrEqual(1);
            expect(value).toBeCloseTo(matrix[other]?.[at] ?? Number.NaN, 9);
          }
      }),
    );
  });

  it('returns the two most similar texts, never a text with itself', () => {
    expect(closest([[1]])).toBeNull();
    expect(
      closest([
        [1, 0.2, 0.9],
        [0.2, 1, 0.5],
        [0.9, 0.5, 1],
      ]),
    ).toEqual({ first: 0, second: 2, value: 0.9 });
  });

  it.each([
    [0.2, 0.2, 0],
    [1, 0.2, 1],
    [0.6, 0.2, 0.5],
    [1, 1, 1],
  ])('%d with the min at %d is coloured %d', (value, min, expected) =>
    expect(strength(value, min)).toBeCloseTo(expected, 9),
  );
});
