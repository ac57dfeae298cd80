import { expect, test } from 'vitest';
import { Permits } from './embedding-permits.ts';

const stay = new AbortController().signal;

test('limits running and waiting work, and a failure frees its permit', async () => {
  const permits = new Permits(1, 1);
  const gate = Promise.withResolvers<void>();
  const first = permits.run(stay, () => gate.promise);
  const second = permits.run(stay, async () => 'done');
  await expect(permits.run(stay, async () => 'never')).rejects.toMatchObject({ status: 429 });
  expect(permits.stats()).toEqual({ active: 1, queued: 1, tokens_generated: 0 });
  gate.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  expect(await second).toBe('done');
  expect(permits.stats()).toMatchObject({ active: 0, queued: 0 });
});
