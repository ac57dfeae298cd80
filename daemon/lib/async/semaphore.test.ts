import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

const never = new AbortController().signal;

test('limits concurrency in order of arrival and skips aborted waiters', async () => {
  const semaphore = new Semaphore({ permits: 1 });
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const cancelled = new AbortController();
  const all = [
    semaphore.run(never, () => first.promise.then(() => void order.push('a'))),
    semaphore.run(cancelled.signal, async () => void order.push('b')),
    semaphore.run(never, async () => void order.push('c')),
  ];
  cancelled.abort(new Error('left'));
  await expect(all[1]).rejects.toThrow('left');
  expect([semaphore.active, semaphore.queued]).toEqual([1, 1]);
  first.resolve();
  await Promise.all([all[0], all[2]]);
  expect(order).toEqual(['a', 'c']);
  await semaphore.run(never, async () => void order.push('d'));
  expect([order.at(-1), semaphore.active, semaphore.queued]).toEqual(['d', 0, 0]);
});

test('an aborted signal takes no permit', async () => {
  const semaphore = new Semaphore({ permits: 1 });
  const aborted = AbortSignal.abort(new Error('left'));
  await expect(semaphore.run(aborted, async () => 'never')).rejects.toThrow('left');
  expect(semaphore.active).toBe(0);
});

test('a failure frees its permit, and the queue is limited', async () => {
  const queueFull = () => new Error('full');
  const semaphore = new Semaphore({ permits: 1, maxQueued: 1, queueFull });
  const gate = Promise.withResolvers<void>();
  const first = semaphore.run(never, () => gate.promise);
  const second = semaphore.run(never, async () => 'done');
  await expect(semaphore.run(never, async () => 'never')).rejects.toThrow('full');
  gate.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  expect(await second).toBe('done');
});
