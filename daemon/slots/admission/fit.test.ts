import { describe, expect, it, test } from 'vitest';
import type { SlotConfig } from '../config/slot-config.ts';
import type { SlotModel } from '../engines/engine.ts';
import type { Forecast } from './controller.ts';
import { fitOf } from './fit.ts';

const MODEL: SlotModel = {
  id: 'owner/model',
  path: null,
  type: 'llm',
  demo: false,
  sizeBytes: 4e9,
  contextTrain: 40_960,
};

/** A forecast with one outcome for each window; null means the default of 8,192 tokens. */
const forecasting =
  (outcomes: Record<number, Forecast['view']['outcome']>) =>
  ({ context }: SlotConfig): Forecast => {
    const window = context ?? 8192;
    const outcome = outcomes[window] ?? 'refused';
    const sum = { pool: 'host', needed: window, free: 9, reserved: 3, kept_free: 2, limit: 7, held: 4 };
    return {
      plan: { launch: { context: window } },
      view: { outcome, evicts: outcome === 'evicts' ? ['agent'] : [], sum },
    } as unknown as Forecast;
  };

test.each([
  ['immediately', { 8192: 'starts' }, ['fits', 8192, []]],
  [
    'immediately with a smaller window',
    { 8192: 'evicts', 4096: 'evicts', 2048: 'starts' },
    ['fits_with_context', 2048, []],
  ],
  [
    'after other slots were evicted',
    { 8192: 'evicts', 4096: 'evicts', 2048: 'evicts' },
    ['needs_eviction', 8192, ['agent']],
  ],
  ['after busy slots were evicted', { 8192: 'waits' }, ['needs_eviction', 8192, []]],
  ['never', {}, ['does_not_fit', 8192, []]],
] as const)('%s', (_, outcomes, [badge, context, evicts]) => {
  expect(fitOf(MODEL, forecasting(outcomes))).toEqual({
    badge,
    context,
    evicts,
    needed: context,
    free: 3,
    pool: 'host',
    cpu_experts: null,
  });
});

describe('a mixture of experts that a card cannot hold', () => {
  const experts = { bytes: 18e9, layers: 40 };
  const moe: SlotModel = { ...MODEL, experts };
  const forecast = (serverOutcome: Forecast['view']['outcome'], layers?: number) => (config: SlotConfig) => {
    const own = forecasting({ 8192: 'starts' })(config);
    if (config.engine !== 'llama-server') return own;
    const launch = { context: 8192, ...(layers === undefined ? {} : { expertLayersOnCpu: layers }) };
    return {
      plan: { launch, need: { host: 9e9 } },
      view: { ...own.view, outcome: serverOutcome },
    } as unknown as Forecast;
  };

  it.each([
    ['some layers', forecast('starts', 20), true, { engine: 'llama-server', layers: 20, of: 40, bytes: 9e9 }],
    ['nothing without the program', forecast('starts', 20), false, null],
    ['nothing when it would be refused', forecast('refused', 20), true, null],
    ['nothing when all fits', forecast('starts'), true, null],
  ])('keeps %s on the CPU', (_, forecasts, hasEngine, expected) => {
    const fit = fitOf(moe, forecasts, hasEngine);
    expect([fit.badge, fit.cpu_experts]).toEqual(['fits', expected]);
  });

  it('says nothing about a dense model', () => {
    expect(fitOf(MODEL, forecast('starts', 20), true).cpu_experts).toBeNull();
  });
});
