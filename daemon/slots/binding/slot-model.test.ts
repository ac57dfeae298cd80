import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import type { SlotModel } from '../engines/engine.ts';
import { configOf } from '../testing/plans.ts';
import { slotModel } from './slot-model.ts';

const KNOWN: SlotModel = {
  id: 'k',
  path: '/m/k.gguf',
  type: 'llm',
  demo: false,
  sizeBytes: 1,
  contextTrain: 1,
};
const nothing = () => null;

it('a model is looked up in the registry; only a built-in slot gets one that it does not name', () => {
  const lookup = vi.fn(() => KNOWN);
  expect(slotModel(configOf('model = "k"', 'other'), 'registry', lookup)).toBe(KNOWN);
  expect(slotModel(configOf(''), 'registry', lookup)).toBe(KNOWN);
  expect(slotModel(configOf('', 'other'), 'registry', lookup)).toBeNull();
  expect(lookup).toHaveBeenCalledTimes(2);
});

it('uses the name of the model, or of the slot without one, without a lookup', () => {
  const lookup = vi.fn(nothing);
  const text = 'type = "image"\nengine = "comfyui"';
  expect(slotModel(configOf(`${text}\nmodel = "org/n:1b"`), 'name', lookup)).toMatchObject({
    id: 'org/n:1b',
    path: null,
    type: 'image',
    sizeBytes: 0,
  });
  expect(slotModel(configOf(text, 'img'), 'name', lookup)?.id).toBe('img');
  expect(lookup).not.toHaveBeenCalled();
});

it('uses the file of the registry, otherwise the one at its absolute path', () => {
  const folder = scratch();
  const path = join(folder, 'ggml base.en.bin');
  writeFileSync(path, 'x'.repeat(77));
  const at = (model: string, lookup: () => SlotModel | null = nothing) =>
    slotModel(configOf(`type = "stt"\nmodel = ${JSON.stringify(model)}`), 'file', lookup);
  expect(at('k', () => KNOWN)).toBe(KNOWN);
  expect(at(path)).toMatchObject({ id: 'ggml-base.en', path, type: 'stt', sizeBytes: 77 });
  expect(at(folder)).toMatchObject({ path: folder, sizeBytes: 77 });
  expect(at(join(folder, 'absent.bin'))).toBeNull();
  expect(at('relative.bin')).toBeNull();
  expect(slotModel(configOf('type = "stt"'), 'file', nothing)).toBeNull();
});
