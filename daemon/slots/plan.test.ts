import { expect, test } from 'vitest';
import { orderLoad } from './admit.ts';
import type { Forecast } from './loads.ts';
import { planView } from './plan.ts';
import { automaticSlot, builtInSlot, type SlotConfig } from './slot-file.ts';
import { MODEL, slotConfig } from './testing/owner-bench.ts';

/** Where the values of a launch are said to come from. */
function origins(config: SlotConfig, asked = false): (string | undefined)[] {
  const order = orderLoad(config, {
    model: MODEL,
    others: [],
    cpuThreads: 0,
    cores: 8,
    queueMax: 64,
    room: () => ({ pool: 'host', free: 0 }),
    measured: () => null,
  });
  const forecast = { order, view: {} } as unknown as Forecast;
  const { launch } = planView({ config, model: MODEL, asked, cpuThreads: 0 }, forecast);
  return ['slot', 'engine', 'type', 'model_id'].map((key) => launch[key]?.from);
}

test('what no file says does not come from one', () => {
  expect(origins(builtInSlot('agent'))).toEqual(['default', 'default', 'default', 'default']);
  expect(origins(automaticSlot('tiny', 'llm', 'tiny'))).toEqual(['model', 'model', 'model', 'model']);
  expect(origins(slotConfig('writer', 'model = "tiny"'))).toEqual(['file', 'default', 'default', 'file']);
  expect(origins(slotConfig('agent', 'type = "llm"'))).toEqual(['file', 'default', 'file', 'default']);
  expect(origins(slotConfig('writer', 'model = "tiny"'), true).at(-1)).toBe('request');
});
