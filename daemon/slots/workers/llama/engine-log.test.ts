import { expect, test } from 'vitest';
import { EngineLog } from './engine-log.ts';

test('forwards truncated lines and returns the first as the cause', async () => {
  const written: string[] = [];
  const log = new EngineLog((line) => written.push(line));
  log.add('error', `unknown architecture\n  ${'x'.repeat(1000)}\n\n`);
  expect(await log.cause()).toBe('unknown architecture');
  expect(written[0]).toBe('error: unknown architecture\n');
  expect(written[1]?.length).toBeLessThan(520);
  expect(written.length).toBe(2);
});

test('keeps 20 lines', async () => {
  const log = new EngineLog(() => undefined);
  for (let i = 0; i < 1000; i++) log.add('error', `line ${i}`);
  expect(await log.cause()).toBe('line 980');
});

test('waits for a cause that arrives after the failure, and returns null without one', async () => {
  const log = new EngineLog(() => undefined);
  const cause = log.cause(10_000);
  setImmediate(() => log.add('error', 'no memory'));
  expect(await cause).toBe('no memory');
  expect(await new EngineLog(() => undefined).cause(1)).toBeNull();
});
