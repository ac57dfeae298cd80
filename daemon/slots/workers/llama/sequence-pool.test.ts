import { expect, test } from 'vitest';
import { SequencePool } from './sequence-pool.ts';

const never = new AbortController().signal;
const pool = (sequences: number[][], limit = 4) =>
  new SequencePool(sequences, limit, (sequence, tokens) => {
    const differs = tokens.findIndex((token, i) => sequence[i] !== token);
    const shared = Math.min(differs < 0 ? tokens.length : differs, sequence.length);
    return { shared, held: sequence.length };
  });

test('selects the sequence with the longest shared prefix', async () => {
  const [a, b, c] = [[1, 2], [1, 2, 3], []];
  const sequences = pool([a, b, c] as number[][]);
  expect(await sequences.acquire([1, 2, 3, 4], never)).toBe(b);
  expect(await sequences.acquire([1, 2, 3, 4], never)).toBe(a);
});

test('selects the least recently used of equals', async () => {
  const [a, b] = [[9], [8]];
  const sequences = pool([a, b] as number[][]);
  const first = await sequences.acquire([1], never);
  sequences.release(first);
  expect(await sequences.acquire([1], never)).not.toBe(first);
});

test('gives simultaneous requests adjacent sequences, so that they share a batch', async () => {
  const all = [[9], [8], [7], [6]];
  const sequences = pool(all);
  const numbers = new Map(all.map((sequence, i) => [sequence, i]));
  const held = [];
  for (let i = 0; i < 3; i++) held.push(await sequences.acquire([1], never));
  for (const sequence of held.toReversed()) sequences.release(sequence);
  const taken = [await sequences.acquire([1], never), await sequences.acquire([1], never)];
  const [a = 0, b = 0] = taken.map((sequence) => numbers.get(sequence));
  expect(Math.abs(a - b)).toBe(1);
});

test('serves the others in order of arrival', async () => {
  const sequences = pool([[1]]);
  const held = await sequences.acquire([], never);
  const order: string[] = [];
  const one = sequences.acquire([], never);
  one.then(() => order.push('one'));
  const two = sequences.acquire([], never);
  two.then(() => order.push('two'));
  expect([sequences.active, sequences.queued]).toEqual([1, 2]);
  sequences.release(held);
  sequences.release(await one);
  sequences.release(await two);
  expect(order).toEqual(['one', 'two']);
  expect([sequences.active, sequences.queued]).toEqual([0, 0]);
});

test('removes a disconnected caller from the queue without delaying others', async () => {
  const sequences = pool([[1]]);
  const held = await sequences.acquire([], never);
  const leaver = new AbortController();
  const left = sequences.acquire([], leaver.signal);
  const stays = sequences.acquire([], never);
  leaver.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  sequences.release(held);
  expect(await stays).toBe(held);
  expect(sequences.queued).toBe(0);
});

test('refuses with 429 when the queue is full', async () => {
  const sequences = pool([[1]], 0);
  await sequences.acquire([], never);
  await expect(sequences.acquire([], never)).rejects.toMatchObject({ status: 429, code: 'slot.queue_full' });
});
