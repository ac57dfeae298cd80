import { expect, test } from 'vitest';
import { requestLimit, statsOf } from './request-limit.ts';

const stay = new AbortController().signal;

test('limits running and waiting requests, and a failure frees its permit', async () => {
  const limit = requestLimit(1, 1);
  const gate = Promise.withResolvers<void>();
  const first = limit.run(stay, () => gate.promise);
  const second = limit.run(stay, async () => 'done');
  const refused = { code: 'slot.queue_full', status: 429 };
  await expect(limit.run(stay, async () => 'never')).rejects.toMatchObject(refused);
  expect(statsOf(limit)).toEqual({ active: 1, queued: 1, tokens_generated: 0 });
  gate.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  expect(await second).toBe('done');
  expect(statsOf(limit)).toMatchObject({ active: 0, queued: 0 });
});
