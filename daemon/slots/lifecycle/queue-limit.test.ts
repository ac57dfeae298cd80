import { expect, test } from 'vitest';
import { SlotType } from '../../contract/slots.ts';
import { QueuePace, queueLimitOf } from './queue-limit.ts';

test.each(SlotType.options)('%s', (type) => {
  const isShort = type === 'embedding' || type === 'rerank';
  for (const queueMax of [1, 64, 5_000]) {
    const { requests, bytes, remedy } = queueLimitOf('mine', type, queueMax);
    expect(requests).toBe(isShort ? 1_024 : queueMax);
    expect(Number.isFinite(bytes)).toBe(isShort);
    expect(remedy).toContain(isShort ? 'slots/mine.toml' : 'slots.queue_max');
  }
});

test('the pace of a queue is that of its last turns', () => {
  const pace = new QueuePace();
  expect(pace.expectedS(5, 0)).toBeNull();
  pace.recordServed(0, 3);
  expect(pace.expectedS(5, 0)).toBeNull();
  expect(pace.expectedS(5, 2_000)).toBe(10);
  for (let turn = 0; turn < 40; turn++) pace.recordServed(10_000 + turn * 100, 9);
  expect(pace.expectedS(100, 14_000)).toBe(10);
  expect(pace.expectedS(1, 14_000)).toBe(1);
});

test('a queue that was empty in between starts again', () => {
  const pace = new QueuePace();
  pace.recordServed(0, 1);
  pace.recordServed(60_000, 0);
  expect(pace.expectedS(5, 61_000)).toBeNull();
});
