import { expect, it } from 'vitest';
import { cutTo } from './truncate.ts';

it('says where a text was cut, and leaves one alone that fits', () => {
  expect([cutTo('abc', 3), cutTo('abcd', 3), cutTo('', 3)]).toEqual(['abc', 'abc…', '']);
});

it('cuts no character in half', () => {
  expect([cutTo('a😀b', 2), cutTo('a😀b', 3), cutTo('😀', 1)]).toEqual(['a…', 'a😀…', '…']);
});
