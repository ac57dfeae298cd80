import { expect, test } from 'vitest';
import { SequencePool } from './sequence-pool.ts';

const neverAborted = new AbortController().signal;
const pool = (sequences: number[][], limit = 4) =>
  new SequencePool(sequences, limit, (sequence, tokens) => {
    const differs = tokens.findIndex((token, i) => sequence[i] !== token);
    const shared = Math.min(differs < 0 ? tokens.length : differs, sequence.length);
    return { shared, held: sequence.length };
  });

test('selects the sequence with the longest shared prefix', async () => {
  const [a, b, c] = [[1, 2], [1, 2, 3], []];
  const sequences = pool([a, b, c] as number[][]);
  expect(await sequences.acquire([1, 2, 3, 4], neverAborted)).toBe(b);
  expect(await sequences.acquire([1, 2, 3, 4], neverAborted)).toBe(a);
});

test('selects the least recently used of equals', async () => {
  const [a, b] = [[9], [8]];
  const sequences = pool([a, b] as number[][]);
  const first = await sequences.acquire([1], neverAborted);
  sequences.release(first);
  expect(await sequences.acquire([1], neverAborted)).not.toBe(first);
});

test('gives simultaneous requests adjacent sequences, so that they share a batch', async () => {
  const all = [[9], [8], [7], [6]];
  const sequences = pool(all);
  const numbers = new Map(all.map((sequence, i) => [sequence, i]));
  const held = [];
  for (let i = 0; i < 3; i++) held.push(await sequences.acquire([1], neverAborted));
  for (const sequence of held.toReversed()) sequences.release(sequence);
  const acquired = [await sequences.acquire([1], neverAborted), await sequences.acquire([1], neverAborted)];
  const [a = 0, b = 0] = acquired.map((sequence) => numbers.get(sequence));
  expect(Math.abs(a - b)).toBe(1);
});

test('serves the others in order of arrival', async () => {
  const sequences = pool([[1]]);
  const held = await sequences.acquire([], neverAborted);
  const order: string[] = [];
  const one = sequences.acquire([], neverAborted);
  one.then(() => order.push('one'));
  const two = sequences.acquire([], neverAborted);
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
  const held = await sequences.acquire([], neverAborted);
  const disconnect = new AbortController();
  const left = sequences.acquire([], disconnect.signal);
  const stays = sequences.acquire([], neverAborted);
  disconnect.abort(new Error('disconnected'));
  await expect(left).rejects.toThrow('disconnected');
  sequences.release(held);
  expect(await stays).toBe(held);
  expect(sequences.queued).toBe(0);
});

test('refuses with 429 when the queue is full', async () => {
  const sequences = pool([[1]], 0);
  await sequences.acquire([], neverAborted);
  await expect(sequences.acquire([], neverAborted)).rejects.toMatchObject({
    status: 429,
    code: 'slot.queue_full',
  });
});
