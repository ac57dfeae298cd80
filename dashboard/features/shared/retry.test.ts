import { expect, test } from 'vitest';
import { retryWords } from './retry.ts';

test.each([
  [90_400, 'It is tried again in 1 min 31 sec.'],
  [120_000, 'It is tried again in 2 min.'],
  [4_000_000, 'It is tried again in 1 hr 6 min.'],
  [8_700, 'It is tried again in 9 sec.'],
  [0, 'It is tried again as soon as it can be.'],
  [-5000, 'It is tried again as soon as it can be.'],
])('in %i ms', (left, words) => expect(retryWords(1_000_000 + left, 1_000_000)).toBe(words));
