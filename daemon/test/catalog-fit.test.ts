import { afterEach, describe, expect, test } from 'vitest';
import { memoryHeadroom } from '../app/memory-headroom.ts';
import type { Hardware } from '../hardware/hardware.ts';
import { MACHINES } from '../hardware/testing/fake-machine.ts';
import { estimateHeader, type KnownModel, readCatalog, SHIPPED_CATALOG, typeOf } from '../models/catalog.ts';
import type { AdmissionController } from '../slots/admission/controller.ts';
import { fitOf, slotFor } from '../slots/admission/fit.ts';
import type { SlotModel } from '../slots/engines/engine.ts';
import { admissionOn, probedMachine } from './harness/captured-machine.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

const { entries: CATALOG } = readCatalog(SHIPPED_CATALOG);

const modelOf = (known: KnownModel): SlotModel => ({
  id: known.model,
  path: null,
  type: typeOf(known),
  demo: false,
  ...estimateHeader(known),
});

const loadsOn = (hardware: Hardware, model: SlotModel, free?: number) =>
  admissionOn(hardware, {
    model: () => model,
    headroom: (device, needed) => {
      const headroom = memoryHeadroom(hardware, device, needed);
      return free === undefined ? headroom : { ...headroom, free };
    },
  });

/** Returns the admission decision for a load with this context window. */
function decisionFor(
  loads: AdmissionController,
  model: SlotModel,
  context: number | null,
): 'start' | 'wait' | 'refuse' {
  try {
    return loads.admit(slotFor(model, context), true).kind;
  } catch (error) {
    expect(error).toMatchObject({ code: 'slot.no_memory' });
    return 'refuse';
  }
}

describe.each(MACHINES)('on the captured machine %s', (name) => {
  test('every badge is what admission decides', async () => {
    const hardware = await probedMachine(name, cleanups);
    for (const known of CATALOG) {
      const model = modelOf(known);
      const loads = loadsOn(hardware, model);
      const fit = fitOf(model, (config, wanted) => loads.forecast(config, wanted, null));
      const decisions = [null, 4096, 2048].map((context) => decisionFor(loads, model, context));
      const expected =
        decisions[0] === 'start'
          ? 'fits'
          : decisions.includes('start')
            ? 'fits_with_context'
            : 'does_not_fit';
      expect([known.name, fit.badge]).toEqual([known.name, expected]);
      if (fit.badge === 'fits_with_context') expect(decisionFor(loads, model, fit.context)).toBe('start');
      expect(fit.needed).toBeGreaterThan(known.card_bytes ?? known.size_bytes);
    }
  });
});

test('a model gets the largest window that fits, with the limit that admission uses', async () => {
  const hardware = await probedMachine('no-gpu', cleanups);
  const model = modelOf(CATALOG.find(({ name }) => name === 'Qwen3.5 9B') as KnownModel);
  const results = new Set<string>();
  for (let free = 4e9; free < 9e9; free += 5e7) {
    const loads = loadsOn(hardware, model, free);
    const { badge, context } = fitOf(model, (config, wanted) => loads.forecast(config, wanted, null));
    results.add(`${badge} ${context}`);
    if (badge === 'does_not_fit') expect(decisionFor(loads, model, 2048)).toBe('refuse');
    else expect(decisionFor(loads, model, context)).toBe('start');
  }
  expect([...results]).toEqual([
    'does_not_fit 8192',
    'fits_with_context 2048',
    'fits_with_context 4096',
    'fits 8192',
  ]);
});

test('an image model is estimated for the engine that needs only its file', async () => {
  const hardware = await probedMachine('no-gpu', cleanups);
  const model = modelOf(CATALOG.find(({ purpose }) => purpose === 'images') as KnownModel);
  const fitWith = (free: number) => {
    const loads = loadsOn(hardware, model, free);
    return fitOf(model, (config, wanted) => loads.forecast(config, wanted, null));
  };
  expect(slotFor(model, null)).toMatchObject({ engine: 'sd-server', runner: 'process' });
  expect(fitWith(64e9)).toMatchObject({ badge: 'fits', context: null });
  expect(fitWith(1e9)).toMatchObject({ badge: 'does_not_fit', context: null });
});
