import { expect, test } from 'vitest';
import { retryWords } from './retry.ts';

test.each([
  [90_400, 'Retrying in 1 min 31 sec.'],
  [120_000, 'Retrying in 2 min.'],
  [4_000_000, 'Retrying in 1 hr 6 min.'],
  [8_700, 'Retrying in 9 sec.'],
  [0, 'Retrying as soon as possible.'],
  [-5000, 'Retrying as soon as possible.'],
])('in %i ms', (left, words) => expect(retryWords(1_000_000 + left, 1_000_000)).toBe(words));
