import { expect, it } from 'vitest';
import { gainText, isFasterAhead } from './ngram-speed.ts';

const speed = (repeats: number, plain: number) => ({
  repeats: { off: 10, ngram: 10 * repeats },
  plain: { off: 20, ngram: 20 * plain },
});

it.each([
  [1.1, 1, true],
  [3, 0.95, true],
  [1.09, 1, false],
  [3, 0.94, false],
  [1, 1, false],
  [0, 1, false],
])('%d times for repeats and %d for other text: %s', (repeats, plain, expected) => {
  expect(isFasterAhead(speed(repeats, plain))).toBe(expected);
});

it('a speed of zero is no gain', () => {
  expect(isFasterAhead({ repeats: { off: 0, ngram: 5 }, plain: { off: 1, ngram: 1 } })).toBe(false);
});

it('the text has both figures', () => {
  expect(gainText(speed(1.5, 0.98))).toBe(
    'svcctl bench measured 1.50 times the speed for text that repeats and 0.98 times the speed for other text',
  );
});
