import { expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { HardwareView } from '../contract/hardware.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { contextOf } from '../models/testing/context-of.ts';
import { automaticSlot } from '../slots/config/slot-file.ts';
import { MODEL } from '../slots/testing/controller-bench.ts';
import { defaultContexts } from './default-context.ts';

const GIB = 1024 ** 3;
const model = {
  ...MODEL,
  sizeBytes: 5 * GIB,
  contextTrain: 131_072,
  contextMemory: contextOf(147_456, { vocabulary: 150_000 }),
};
const slot = { ...automaticSlot('agent', 'llm', 'm', 'embedded'), parallel: 1 };

function open() {
  const state = { total: 16 * GIB, reads: 0 };
  const bus = new EventBus<GatewayEvents>();
  const hardware = {
    last: (): HardwareView | null => null,
    memoryTotal: () => {
      state.reads += 1;
      return state.total;
    },
  };
  return { state, bus, add: defaultContexts({ hardware, bus, memoryLimit: () => 0 }) };
}

it('adds the window by total memory, which is read once after each probe', () => {
  const { state, bus, add } = open();
  const window = () => add(slot, model)?.defaultContext;
  expect([window(), window(), state.reads]).toEqual([16_384, 16_384, 1]);
  state.total = 64 * GIB;
  expect(window()).toBe(16_384);
  bus.emit('hardware', { probed_at: 1 });
  expect(window()).toBe(131_072);
});

it.each([
  ['a slot with a window', { ...slot, context: 4096 }],
  ['a slot without chat', { ...slot, type: 'embedding' as const }],
])('leaves the model of %s unchanged', (_, config) => {
  expect(open().add(config, model)).toBe(model);
});

it('leaves an absent model absent', () => {
  expect(open().add(slot, null)).toBeNull();
});
