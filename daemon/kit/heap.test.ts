import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { bodyPassed } from './heap.ts';

const MB = 2 ** 20;
const PIECE = 64 * 1024;
const outside = () => process.memoryUsage().arrayBuffers / MB;

/** Lets so many bytes go by that nobody keeps: too few for V8 to collect them by itself. */
function passBy(bytes: number): void {
  for (let made = 0; made < bytes; made += PIECE) Buffer.allocUnsafeSlow(PIECE);
}

test('what a long body has left behind is used again once a good part of it has passed', async () => {
  bodyPassed(24 * MB);
  await turn();
  const before = outside();
  passBy(16 * MB);
  bodyPassed(16 * MB);
  await turn();
  expect(outside() - before).toBeGreaterThan(12);
  bodyPassed(8 * MB);
  await vi.waitFor(() => expect(outside() - before).toBeLessThan(4));
});
