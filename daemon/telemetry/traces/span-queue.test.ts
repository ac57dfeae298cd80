import { expect, test } from 'vitest';
import { ManualClock, settle } from '../../slots/testing/manual-clock.ts';
import type { Span } from './span.ts';
import {
  BATCH,
  BATCH_WINDOW_MS,
  type Delivery,
  FLUSH_MS,
  MAX_QUEUED,
  MAX_WAIT_MS,
  SpanQueue,
} from './span-queue.ts';

const DELIVERED: Delivery = { kind: 'taken', rejected: 0 };
const RETRY: Delivery = { kind: 'again', afterMs: null, reason: 'away' };
const spans = (count: number, name = 's') => Array.from({ length: count }, () => ({ name }) as Span);

function setUp(play: () => Delivery | Promise<Delivery> = () => DELIVERED) {
  const clock = new ManualClock();
  const sent: { at: number; count: number; first: string }[] = [];
  const states: (string | null)[] = [];
  const how = { play };
  const began = clock.now();
  const queue = new SpanQueue({
    clock,
    deliver: async (batch) => {
      sent.push({ at: clock.now() - began, count: batch.length, first: batch[0]?.name ?? '' });
      return how.play();
    },
    onStateChange: (reason) => void states.push(reason),
  });
  return { clock, queue, sent, states, how };
}

test('spans are batched for a moment; a full batch is sent at once', async () => {
  const { clock, queue, sent } = setUp();
  queue.add(spans(3));
  queue.add(spans(2));
  await settle();
  expect(sent).toEqual([]);
  await clock.advance(BATCH_WINDOW_MS);
  expect(sent).toMatchObject([{ count: 5 }]);
  queue.add(spans(BATCH + 10));
  await settle();
  expect(sent).toMatchObject([{ count: 5 }, { count: BATCH }]);
  await clock.advance(BATCH_WINDOW_MS);
  expect(sent.at(-1)?.count).toBe(10);
  expect(queue.counts()).toEqual({ sent: 5 + BATCH + 10, dropped: 0, refused: 0 });
});

test('an unreachable collector is retried with backoff, reported once, and gets all spans when it returns', async () => {
  const { clock, queue, sent, states, how } = setUp(() => RETRY);
  queue.add(spans(4));
  await clock.advance(10 * 60_000);
  const gaps = sent.slice(1).map(({ at }, i) => at - (sent[i]?.at ?? 0));
  expect(gaps.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, MAX_WAIT_MS]);
  expect(Math.max(...gaps)).toBe(MAX_WAIT_MS);
  expect(states).toEqual(['away']);
  how.play = () => DELIVERED;
  await clock.advance(MAX_WAIT_MS);
  expect(states).toEqual(['away', null]);
  expect(queue.counts()).toEqual({ sent: 4, dropped: 0, refused: 0 });
});

test('waits as long as the collector requests, up to the limit', async () => {
  const { clock, queue, sent, how } = setUp(() => ({ ...RETRY, afterMs: 30_000 }));
  queue.add(spans(1));
  await clock.advance(BATCH_WINDOW_MS + 29_999);
  expect(sent).toHaveLength(1);
  how.play = () => ({ ...RETRY, afterMs: 1e12 });
  await clock.advance(1);
  expect(sent).toHaveLength(2);
  await clock.advance(MAX_WAIT_MS);
  expect(sent).toHaveLength(3);
});

test('the queue is bounded: the oldest spans are dropped and counted', async () => {
  const { clock, queue, sent, how } = setUp(() => RETRY);
  queue.add(spans(1_000, 'old'));
  await clock.advance(BATCH_WINDOW_MS);
  queue.add(spans(MAX_QUEUED, 'new'));
  expect(queue.counts().dropped).toBe(1_000);
  how.play = () => DELIVERED;
  await clock.advance(10 * MAX_WAIT_MS);
  expect(sent.at(-1)?.first).toBe('new');
  expect(queue.counts()).toEqual({ sent: MAX_QUEUED, dropped: 1_000, refused: 0 });
});

test('rejected spans are not sent again', async () => {
  const { clock, queue, sent, states, how } = setUp(() => ({ kind: 'refused', reason: 'status 400' }));
  queue.add(spans(3));
  await clock.advance(MAX_WAIT_MS);
  expect(sent).toHaveLength(1);
  how.play = () => ({ kind: 'taken', rejected: 2 });
  queue.add(spans(3));
  await clock.advance(MAX_WAIT_MS);
  how.play = () => Promise.reject(new Error('broken'));
  queue.add(spans(1));
  await clock.advance(MAX_WAIT_MS);
  expect(queue.counts()).toEqual({ sent: 1, dropped: 0, refused: 6 });
  expect(states[0]).toBe('status 400');
});

test('a stop sends the queue regardless of the backoff', async () => {
  const { clock, queue, sent, how } = setUp(() => RETRY);
  queue.add(spans(BATCH + 5));
  await settle();
  how.play = () => DELIVERED;
  await queue.stop();
  expect(sent.slice(1).map(({ count }) => count)).toEqual([BATCH, 5]);
  expect(queue.counts()).toEqual({ sent: BATCH + 5, dropped: 0, refused: 0 });
  queue.add(spans(1));
  await clock.advance(MAX_WAIT_MS);
  expect(queue.counts().dropped).toBe(1);
});

test('a hanging collector delays a stop by two seconds at most', async () => {
  const hung = Promise.withResolvers<Delivery>();
  const { clock, queue } = setUp(() => hung.promise);
  queue.add(spans(3));
  await clock.advance(BATCH_WINDOW_MS);
  queue.add(spans(2));
  let over = false;
  const stopped = queue.stop().then(() => {
    over = true;
  });
  await clock.advance(FLUSH_MS - 1);
  expect(over).toBe(false);
  await clock.advance(1);
  await stopped;
  expect(queue.counts().dropped).toBe(2);
  hung.resolve(RETRY);
  await settle();
  expect(queue.counts()).toEqual({ sent: 0, dropped: 5, refused: 0 });
});
