import { expect, it } from 'vitest';
import { slotLogName } from './slot-log.ts';

it.each([
  ['llama-server', 'process', 'agent'],
  ['flm', 'process', '@flm'],
  ['flm', 'attach', 'agent'],
  ['unknown', 'process', 'agent'],
] as const)('engine %s on runner %s logs to %s', (engine, runner, log) => {
  expect(slotLogName({ name: 'agent', engine, runner })).toBe(log);
});
