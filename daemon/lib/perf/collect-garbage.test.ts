import { expect, test, vi } from 'vitest';
import { collectGarbage } from './collect-garbage.ts';

test('frees a buffer that nothing refers to', async () => {
  let isFreed = false;
  const registry = new FinalizationRegistry(() => {
    isFreed = true;
  });
  (() => registry.register(Buffer.alloc(1024 * 1024), 'buffer'))();
  // A stale reference on the stack may outlive one collection.
  await vi.waitFor(
    () => {
      collectGarbage();
      expect(isFreed).toBe(true);
    },
    { timeout: 10_000 },
  );
});
