import { expect, test } from 'vitest';
import type { SlotConfig } from '../config/slot-config.ts';
import { automaticSlot, builtInSlot } from '../config/slot-file.ts';
import { MODEL, slotConfig } from '../testing/controller-bench.ts';
import type { Forecast } from './controller.ts';
import { planLoad } from './launch-plan.ts';
import { planView } from './plan.ts';

/** Returns the origin of each value of a launch. */
function originOf(
  config: SlotConfig,
  isModelRequested = false,
  model = MODEL,
): (key: string) => string | undefined {
  const plan = planLoad(config, {
    model,
    others: [],
    cpuThreads: 0,
    cores: 8,
    queueMax: 64,
    headroom: () => ({ pool: 'host', free: 0 }),
    measured: () => null,
  });
  const forecast = { plan, view: {} } as unknown as Forecast;
  const { launch } = planView({ config, model, isModelRequested, cpuThreads: 0 }, forecast);
  return (key) => launch[key]?.from;
}

const origins = (config: SlotConfig, isModelRequested = false): (string | undefined)[] =>
  ['slot', 'engine', 'type', 'model_id'].map(originOf(config, isModelRequested));

test('values that no file sets do not come from a file', () => {
  expect(origins(builtInSlot('agent'))).toEqual(['default', 'default', 'default', 'default']);
  expect(origins(automaticSlot('tiny', 'llm', 'tiny'))).toEqual(['model', 'model', 'model', 'model']);
  expect(origins(slotConfig('writer', 'model = "tiny"'))).toEqual(['file', 'default', 'default', 'file']);
  expect(origins(slotConfig('agent', 'type = "llm"'))).toEqual(['file', 'default', 'file', 'default']);
  expect(origins(slotConfig('writer', 'model = "tiny"'), true).at(-1)).toBe('request');
});

test.each([
  ['', true, 'engine'],
  ['device = "auto"', true, 'engine'],
  ['device = "vulkan:1"', true, 'file'],
  ['device = "cpu"', true, 'file'],
  ['', false, 'default'],
])('the device under %j (demonstration model: %j) comes from %s', (text, demo, from) => {
  const config = slotConfig('writer', `model = "tiny"\n${text}`);
  expect(originOf(config, false, { ...MODEL, demo })('device')).toBe(from);
});
