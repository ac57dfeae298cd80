import { expect, test } from 'vitest';
import { collectGarbage } from './collect-garbage.ts';

const FREED = new Error('not freed');

test('frees a buffer that nothing refers to', async () => {
  const freed = Promise.withResolvers<string>();
  const registry = new FinalizationRegistry<string>(freed.resolve);
  (() => registry.register(Buffer.alloc(1024 * 1024), 'buffer'))();
  // A reference of the running function may live until the next turn.
  await new Promise(setImmediate);
  collectGarbage();
  const limit = setTimeout(freed.reject, 10_000, FREED);
  expect(await freed.promise).toBe('buffer');
  clearTimeout(limit);
});
