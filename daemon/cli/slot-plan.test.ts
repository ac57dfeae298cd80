import { describe, expect, it } from 'vitest';
import type { LoadForecastView, SlotPlanView, SlotRecord } from '../contract/slots.ts';
import { planText } from './slot-plan.ts';

const SUM: LoadForecastView['sum'] = {
  ...{ pool: 'host', needed: 100, free: 1000, reserved: 0, kept_free: 0, limit: null, held: 0, short: 0 },
  victims: [
    { slot: 'agent', bytes: 40, stays: null },
    { slot: 'embed', bytes: 30, stays: null },
    { slot: 'tts', bytes: 20, stays: 'pinned' },
  ],
};

const planOf = (forecast: Partial<LoadForecastView>): SlotPlanView => ({
  ...{ slot: 'big', engine: 'embedded', runner: 'worker', model: 'm' },
  launch: {
    context: { value: 8192, from: 'default' },
    degraded: { value: null, from: 'engine' },
    how: { value: { runner: 'worker', settings: { threads: 2, gpuLayers: null } }, from: 'engine' },
  },
  need: { weights: 60, window: 20, compute: 10, engine: 10, host: 0, total: 100, source: 'estimated' },
  forecast: { outcome: 'starts', evicts: [], sum: SUM, ...forecast },
});

const slotOf = (state: SlotRecord['state'], model: string | null) => ({ state, model }) as SlotRecord;
const idle = slotOf('offline', null);
const nowOf = (text: string) => /^Now +(.*)$/m.exec(text)?.[1];

describe('planText', () => {
  it('names no slot to unload when the load needs none', () => {
    const text = planText(planOf({}), idle, 80);
    expect(nowOf(text)).toBe('it would start at once');
    expect(text).not.toMatch(/HOLDS|unloaded|Short/);
  });

  it('lists each slot according to the outcome', () => {
    const text = planText(
      planOf({ outcome: 'evicts', evicts: ['agent'], sum: { ...SUM, short: 40 } }),
      idle,
      80,
    );
    expect(nowOf(text)).toBe('it would start after unloading agent');
    expect(text).toMatch(/^agent +40 B +would be unloaded$/m);
    expect(text).toMatch(/^embed +30 B +stays loaded$/m);
    expect(text).toMatch(/^tts +20 B +stays loaded: pinned$/m);
    expect(text).toMatch(/^Short +40 B$/m);
  });

  it.each<[SlotRecord, string]>([
    [slotOf('ready', 'm'), 'the model is loaded; a restart would start at once'],
    [slotOf('serving', 'm'), 'the model is loaded; a restart would start at once'],
    [slotOf('ready', 'other'), 'it would start at once'],
    [slotOf('starting', 'm'), 'it would start at once'],
  ])('of %j: %s', (slot, words) => expect(nowOf(planText(planOf({}), slot, 80))).toBe(words));

  it('leaves out the parts of the estimate when the sum is measured', () => {
    const plan = planOf({});
    const text = planText({ ...plan, need: { ...plan.need, total: 50, source: 'measured' } }, idle, 80);
    expect(text).toMatch(/^Needed +50 B \(measured\)$/m);
    expect(text).not.toMatch(/^(Weights|Engine itself)/m);
  });

  it('lists each fact once, as keys with one value, without unset ones', () => {
    const text = planText(planOf({}), idle, 80);
    expect(text.match(/^Engine +/gm)).toHaveLength(2);
    expect(text).toMatch(/^Engine itself +10 B$/m);
    expect(text).toMatch(/^how\.settings\.threads +2 +engine$/m);
    expect(text).not.toMatch(/null|degraded|\{/);
  });
});
