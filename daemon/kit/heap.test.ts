import { expect, test } from 'vitest';
import { bodyPassed } from './heap.ts';

/** The largest sum of bytes outside the heap while so many of 64 kB go by. */
function peakOf(passes: (bytes: number) => void): number {
  const PIECE = 64 * 1024;
  let peak = 0;
  for (let passed = 0; passed < 512 * 2 ** 20; passed += PIECE) {
    passes(Buffer.allocUnsafeSlow(PIECE).length);
    peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  }
  return peak / 2 ** 20;
}

test('what a long body has left behind is used again, before V8 would collect it', () => {
  const untold = peakOf(() => {});
  const told = peakOf(bodyPassed);
  expect(told).toBeLessThan(untold * 0.8);
});
