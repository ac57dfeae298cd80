import { expect, test } from 'vitest';
import { encoderWindow } from './embedding-load.ts';

test.each([
  [null, 512, 512],
  [null, 32_768, 8_192],
  [null, 0, 8_192],
  [256, 512, 256],
  [4_096, 512, 512],
  [4_096, 0, 4_096],
])('requesting %s with %i positions gives a window of %i', (requested, trained, window) => {
  expect(encoderWindow(requested, trained)).toBe(window);
});
