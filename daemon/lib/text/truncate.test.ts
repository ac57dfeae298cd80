import { expect, it } from 'vitest';
import { truncate } from './truncate.ts';

it('says where a text was cut, and leaves one alone that fits', () => {
  expect([truncate('abc', 3), truncate('abcd', 3), truncate('', 3)]).toEqual(['abc', 'abc…', '']);
});

it('cuts no character in half', () => {
  expect([truncate('a😀b', 2), truncate('a😀b', 3), truncate('😀', 1)]).toEqual(['a…', 'a😀…', '…']);
});
