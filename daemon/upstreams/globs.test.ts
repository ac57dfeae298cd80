import { describe, expect, it } from 'vitest';
import { isWanted, matchesGlob } from './globs.ts';

describe('matchesGlob', () => {
  it.each([
    ['gpt-5', 'gpt-5', true],
    ['gpt-5', 'gpt-5-mini', false],
    ['gpt-*', 'gpt-5-mini', true],
    ['*', '', true],
    ['*', 'anything/at:all', true],
    ['*/qwen*:free', 'x/qwen3-8b:free', true],
    ['*/qwen*:free', 'x/qwen3-8b', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a**b', 'ab', true],
    ['a.c', 'abc', false],
    ['[a]', 'a', false],
    ['*ü*', 'grün', true],
  ])('%s and %s: %s', (pattern, text, expected) => expect(matchesGlob(pattern, text)).toBe(expected));

  it('takes linear time for many stars', () => {
    expect(matchesGlob('*a'.repeat(120), 'b'.repeat(250))).toBe(false);
  });
});

it('isWanted: an empty list includes all, and the exclude list takes precedence', () => {
  expect(isWanted('m', [], [])).toBe(true);
  expect(isWanted('m', ['n'], [])).toBe(false);
  expect(isWanted('m', ['m*'], ['m'])).toBe(false);
});
