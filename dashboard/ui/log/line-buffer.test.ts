import { expect, it } from 'vitest';
import { LineBuffer } from './line-buffer.ts';

it('keeps the newest lines, each with a unique key', () => {
  const buffer = new LineBuffer<string>(3);
  for (let at = 0; at < 100; at += 1) buffer.push(`line ${at}`);
  expect(buffer.shown().map(({ line }) => line)).toEqual(['line 97', 'line 98', 'line 99']);
  expect(buffer.shown().map(({ key }) => key)).toEqual([97, 98, 99]);
  expect(buffer.receivedCount).toBe(100);
});

it('is bounded, and empty after a clear', () => {
  const buffer = new LineBuffer<number>(10);
  for (let at = 0; at < 1000; at += 1) {
    buffer.push(at);
    expect(buffer.shown().length).toBeLessThanOrEqual(10);
  }
  buffer.clear();
  expect(buffer.shown()).toEqual([]);
  buffer.push(1);
  expect(buffer.shown()).toEqual([{ key: 1000, line: 1 }]);
});

it('does not count repeated lines after a clear', () => {
  const buffer = new LineBuffer<string>(10);
  for (const line of ['a', 'b', 'b']) buffer.push(line);
  buffer.clear();
  buffer.clear();
  for (const line of ['b', 'b', 'b', 'a']) buffer.push(line);
  expect(buffer.receivedCount).toBe(5);
  expect(buffer.shown().map(({ line }) => line)).toEqual(['b', 'b', 'b', 'a']);
});
