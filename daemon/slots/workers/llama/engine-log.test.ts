import { expect, test } from 'vitest';
import { EngineLog } from './engine-log.ts';

test('lines are passed on cut, and the first is the cause', async () => {
  const written: string[] = [];
  const log = new EngineLog((line) => written.push(line));
  log.add('error', `unknown architecture\n  ${'x'.repeat(1000)}\n\n`);
  expect(await log.cause()).toBe('unknown architecture');
  expect(written[0]).toBe('error: unknown architecture\n');
  expect(written[1]?.length).toBeLessThan(520);
  expect(written.length).toBe(2);
});

test('however much is written, 20 lines are kept', async () => {
  const log = new EngineLog(() => undefined);
  for (let i = 0; i < 1000; i++) log.add('error', `line ${i}`);
  expect(await log.cause()).toBe('line 980');
});

test('a cause that comes a moment after the failure is waited for, and silence is the answer to silence', async () => {
  const log = new EngineLog(() => undefined);
  const cause = log.cause(10_000);
  setImmediate(() => log.add('error', 'no memory'));
  expect(await cause).toBe('no memory');
  expect(await new EngineLog(() => undefined).cause(1)).toBeNull();
});
