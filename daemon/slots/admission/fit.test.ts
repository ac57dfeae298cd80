import { expect, test } from 'vitest';
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
  });
});
