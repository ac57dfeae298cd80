import { expect, test } from 'vitest';
import { EngineLog } from './engine-log.ts';

test('lines are passed on cut, and the first is the cause', () => {
  const written: string[] = [];
  const log = new EngineLog((line) => written.push(line));
  log.add('error', `unknown architecture\n  ${'x'.repeat(1000)}\n\n`);
  expect(log.cause()).toBe('unknown architecture');
  expect(written[0]).toBe('error: unknown architecture\n');
  expect(written[1]?.length).toBeLessThan(520);
  expect(written.length).toBe(2);
});

test('however much is written, 20 lines are kept', () => {
  const log = new EngineLog(() => undefined);
  for (let i = 0; i < 1000; i++) log.add('error', `line ${i}`);
  expect(log.cause()).toBe('line 980');
});
