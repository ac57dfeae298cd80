import { describe, expect, it } from 'vitest';
import { definedFields, linesOf, numberFault, numberOf } from './numbers.ts';

describe('typed numbers', () => {
  it.each([
    ['', null],
    [' 7 ', 7],
    ['0.5', 0.5],
    ['x', null],
    ['1e999', null],
  ])('%j is the number %j', (text, value) => expect(numberOf(text)).toBe(value));

  it.each([
    ['', null],
    ['3', null],
    ['0', 'Steps must be a whole number from 1 to 5.'],
    ['2.5', 'Steps must be a whole number from 1 to 5.'],
    ['none', 'Steps must be a whole number from 1 to 5.'],
  ])('%j is refused with %j', (text, fault) => expect(numberFault('Steps', text, 1, 5)).toBe(fault));

  it('a speed may have a fraction', () => expect(numberFault('Speed', '1.5', 0.25, 4, false)).toBeNull());

  it('linesOf and definedFields drop empty values', () => {
    expect(linesOf(' a \n\n b\r\n')).toEqual(['a', 'b']);
    expect(definedFields({ a: null, b: '', c: 0, d: 'x' })).toEqual({ c: 0, d: 'x' });
  });
});
