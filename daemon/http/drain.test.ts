import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Drain } from './drain.ts';

const answer = () => new EventEmitter() as unknown as ServerResponse;

test('a drain without a response in progress ends immediately', async () => {
  const drain = new Drain();
  const over = answer();
  drain.track(over);
  over.emit('close');
  expect(drain.isDraining).toBe(false);
  await drain.begin(60_000);
  expect(drain.isDraining).toBe(true);
});

test('a drain ends with the last response, even if that emits close repeatedly', async () => {
  const drain = new Drain();
  const [first, second] = [answer(), answer()];
  drain.track(first);
  drain.track(second);
  let over = false;
  const drained = drain.begin(60_000).then(() => {
    over = true;
  });
  first.emit('close');
  first.emit('close');
  await turn();
  expect(over).toBe(false);
  second.emit('close');
  await drained;
});

test('a drain waits no longer than the limit', async () => {
  const drain = new Drain();
  drain.track(answer());
  await drain.begin(10);
  expect(drain.isDraining).toBe(true);
});
