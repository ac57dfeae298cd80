import { expect, test } from 'vitest';
import type { GatewayEvents } from '../../contract/events.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { ProgressEmitter } from './progress-emitter.ts';

test('emits states at once, throttles steps, always emits the end', () => {
  const told: [string, number | null][] = [];
  const bus = new EventBus<GatewayEvents>();
  bus.subscribe(({ payload }) => {
    const { state, progress } = payload as GatewayEvents['image'];
    told.push([state, progress]);
  });
  let now = 0;
  const emitter = new ProgressEmitter(bus, { id: 'i', request: 'r', model: 'sdxl', slot: 'img' }, () => now);
  emitter.emit({ state: 'queued', fraction: null });
  emitter.emit({ state: 'queued', fraction: null });
  emitter.emit({ state: 'drawing', fraction: 0 });
  for (let step = 1; step <= 100; step++) {
    now += 20;
    emitter.emit({ state: 'drawing', fraction: step / 100 });
  }
  emitter.done();
  expect(told).toEqual([
    ['queued', null],
    ['drawing', 0],
    ['drawing', 0.25],
    ['drawing', 0.5],
    ['drawing', 0.75],
    ['drawing', 1],
    ['done', 1],
  ]);
});
