import { expect, test } from 'vitest';
import type { SlotRecord } from '../../contract/slots.ts';
import { slotRecord } from '../../contract/testing/slot-record.ts';
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
    drawableModels: () => more.draws ?? [],
  });
}

test('a slot with a curated model is used by its name', () => {
  expect(names([imageSlot('img', 'sdxl'), imageSlot('art', 'mine')])).toEqual(['img']);
  expect(names([imageSlot('art', 'sd_xl_turbo_1.0.safetensors')])).toEqual(['art']);
  expect(names([imageSlot('img', 'sdxl', { state: 'offline' })])).toEqual([]);
});

test("a slot without a curated model is used with its engine's model, if requests resolve to it", () => {
  const draws = ['sd15', 'sdxl'];
  expect(names([imageSlot('img', null)], { draws })).toEqual(['sd15']);
  expect(names([imageSlot('img', 'my-own-model')], { draws })).toEqual(['sd15']);
  expect(names([imageSlot('img', null)])).toEqual([]);
  expect(names([imageSlot('art', null)], { draws })).toEqual([]);
});

test('upstreams are used for curated models only', () => {
  expect(names([], { models: ['chat', 'flux-schnell', 'gpt-image-1', 'flux'] })).toEqual(['flux-schnell']);
});
