import { expect, it } from 'vitest';
import { truncate } from './truncate.ts';

it('marks a truncation, and keeps a text that fits', () => {
  expect([truncate('abc', 3), truncate('abcd', 3), truncate('', 3)]).toEqual(['abc', 'abc…', '']);
});

it('does not split a character', () => {
  expect([truncate('a😀b', 2), truncate('a😀b', 3), truncate('😀', 1)]).toEqual(['a…', 'a😀…', '…']);
});
