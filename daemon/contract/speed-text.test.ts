import { expect, test } from 'vitest';
import { speedFeeling, speedText } from './speed-text.ts';

test.each([
  [{ low: 12, high: 21, measured: false }, 'about 12–21 tokens/s', 'faster than reading'],
  [{ low: 1.2, high: 2.1, measured: false }, 'about 1.2–2.1 tokens/s', 'slower than reading'],
  [{ low: 6, high: 6, measured: true }, '6 tokens/s', 'about as fast as reading'],
  [{ low: 90, high: 150, measured: false }, 'about 90–150 tokens/s', 'fast'],
])('%j', (speed, text, feeling) => {
  expect([speedText(speed), speedFeeling(speed)]).toEqual([text, feeling]);
});
