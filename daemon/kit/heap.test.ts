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

/** How much of 16 MB that have gone by is still there; V8 may have collected it by itself, and then there is nothing to see. */
async function leftBehind(): Promise<{ before: number; left: number }> {
  bodyPassed(24 * MB);
  await turn();
  const before = outside();
  passBy(16 * MB);
  bodyPassed(16 * MB);
  return { before, left: outside() - before };
}

test('what a long body has left behind is used again once a good part of it has passed', async () => {
  const { before } = await vi.waitFor(
    async () => {
      const seen = await leftBehind();
      expect(seen.left).toBeGreaterThan(12);
      return seen;
    },
    { timeout: 10_000 },
  );
  bodyPassed(8 * MB);
  await vi.waitFor(() => expect(outside() - before).toBeLessThan(4));
});
