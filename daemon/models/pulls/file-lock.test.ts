import { setImmediate as breathe } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FileLock } from './file-lock.ts';

const neverAborted = new AbortController().signal;

test('waits for all earlier holders of a needed file, and for no others', async () => {
  const line = new FileLock();
  const order: string[] = [];
  const gates = new Map<string, () => void>();
  const enter = (name: string, files: string[], signal = neverAborted) =>
    line.run(
      files,
      () => {
        order.push(name);
        return new Promise<void>((resolve) => gates.set(name, resolve));
      },
      signal,
    );
  const all = [
    enter('a', ['x']),
    enter('b', ['y']),
    enter('c', ['x', 'y']),
    enter('d', ['y', 'z']),
    enter('e', ['w']),
  ];
  await breathe();
  expect(order).toEqual(['a', 'b', 'e']);
  gates.get('a')?.();
  await breathe();
  expect(order).toHaveLength(3);
  gates.get('b')?.();
  await breathe();
  expect(order).toEqual(['a', 'b', 'e', 'c']);
  gates.get('c')?.();
  await breathe();
  expect(order.at(-1)).toBe('d');
  for (const name of ['d', 'e']) gates.get(name)?.();
  await Promise.all(all);
});

test('an aborted or failed task blocks no other', async () => {
  const line = new FileLock();
  const first = Promise.withResolvers<void>();
  const disconnect = new AbortController();
  const failing = line.run(['x'], () => first.promise, neverAborted);
  const leaving = line.run(['x', 'y'], async () => 'in', disconnect.signal);
  const last = line.run(['y'], async () => 'in', neverAborted);
  disconnect.abort(new Error('left'));
  await expect(leaving).rejects.toThrow('left');
  expect(await last).toBe('in');
  first.reject(new Error('broken'));
  await expect(failing).rejects.toThrow('broken');
  expect(await line.run(['x', 'y'], async () => 'in', neverAborted)).toBe('in');
});
