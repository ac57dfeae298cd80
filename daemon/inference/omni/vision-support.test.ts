import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { registeredModel, routingView, upstreamConfigOf } from '../testing/builders.ts';
import { targetSupportsVision } from './vision-support.ts';

const desk = {
  ...upstreamConfigOf({ name: 'desk' }),
  models: [
    { id: 'far-eyes', type: null, context: null, created: null, vision: true as const },
    { id: 'far-words', type: null, context: null, created: null },
  ],
};
const on = routingView({
  slots: [
    slotRecord({ name: 'agent', model: 'words' }),
    slotRecord({ name: 'eyes', model: 'pixels', state: 'offline' }),
    slotRecord({ name: 'next', model: null }),
    slotRecord({ name: 'painter', type: 'image', model: 'sdxl' }),
  ],
  models: [
    registeredModel({ id: 'words' }),
    registeredModel({ id: 'pixels', capabilities: { vision: true } }),
  ],
  upstreams: [desk],
});

test.each([
  [null, false],
  ['agent', false],
  ['words', false],
  ['next', false],
  ['eyes', true],
  ['pixels', true],
  ['svc/eyes', true],
  ['far-eyes', true],
  ['far-words', false],
  ['svc/unknown', false],
  ['unknown', false],
])('%s supports vision: %s', (name, expected) => {
  expect(targetSupportsVision(name, on)).toBe(expected);
});

test('is false without a name and a slot', () => {
  expect(targetSupportsVision(null, routingView())).toBe(false);
});

test('uses the default model when none is named', () => {
  const slots = [slotRecord({ name: 'agent', model: 'pixels' })];
  expect(targetSupportsVision(null, routingView({ slots, models: on.models }))).toBe(true);
});
