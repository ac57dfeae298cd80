import { expect, test } from 'vitest';
import type { SlotRecord } from '../../contract/slots.ts';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { routingView, upstreamConfigOf } from '../testing/builders.ts';
import { imageModels } from './drawing.ts';

const imageSlot = (name: string, model: string | null, more: Partial<SlotRecord> = {}) =>
  slotRecord({ name, model, type: 'image', engine: 'comfyui', ...more });

function names(slots: SlotRecord[], more: { draws?: string[]; models?: string[] } = {}): string[] {
  const upstreams = [
    upstreamConfigOf({ name: 'far', models: more.models ?? [] }),
    upstreamConfigOf({ name: 'down', isHealthy: false, models: ['sdxl'] }),
  ];
  return imageModels({
    view: routingView({ slots, upstreams }),
    requestedModel: null,
    attached: { audio: false, image: false },
    reportedModels: {
      of: () => (more.draws ?? []).map((id) => curatedModel(id) as ImageModel),
      isKnown: () => true,
    },
  });
}

test('a slot whose file names a model is used by its name', () => {
  expect(names([imageSlot('img', 'sdxl'), imageSlot('art', 'mine.safetensors')])).toEqual(['img', 'art']);
  expect(names([imageSlot('art', 'own', { engine: 'custom' })])).toEqual(['art']);
  expect(names([imageSlot('img', 'sdxl', { state: 'offline' })])).toEqual([]);
});

test('another slot is used with the first model of its engine, if it has reported one', () => {
  const draws = ['sd15', 'sdxl'];
  expect(names([imageSlot('img', null)], { draws })).toEqual(['sd15']);
  expect(names([imageSlot('art', 'art')], { draws })).toEqual(['sd15']);
  expect(names([imageSlot('img', null)])).toEqual([]);
});

test('upstreams are used for the image models that they list', () => {
  const models = ['chat', 'flux-schnell', 'gpt-image-1'];
  expect(names([], { models })).toEqual(['flux-schnell', 'gpt-image-1']);
});
