import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { upstreamFacts } from '../testing/pictures.ts';
import { followers } from './fallbacks.ts';
import { plainAddress } from './model-ref.ts';
import type { Picture } from './routing-view.ts';

const upstream = (name: string, over: object = {}) => upstreamFacts({ name, models: ['m'], ...over });
const picture: Picture = {
  slots: [slotRecord({ name: 'agent' })],
  models: [],
  upstreams: [
    upstream('a'),
    upstream('b', { priority: 2 }),
    upstream('c', { priority: 1 }),
    upstream('away', { isHealthy: false }),
    upstream('other', { models: [] }),
  ],
  npuSuffix: 'flm',
  liveAsked: false,
};
const toSlot = { step: 'registry', target: { kind: 'slot', slot: 'utility', model: 's' } } as const;
const toUpstream = (step: string) =>
  ({ step, target: { kind: 'upstream', upstream: 'a', model: 'm' } }) as const;

test('a virtual name goes on in its chain, a slot by its name does not', () => {
  const address = { ...plainAddress('svc/utility'), lane: 'utility', chain: ['agent'] };
  expect(followers(address, toSlot, picture)).toEqual([{ slot: 'agent', upstream: null }]);
  expect(followers({ ...address, lane: 'other' }, toSlot, picture)).toEqual([]);
  expect(followers(plainAddress('s'), toSlot, picture)).toEqual([]);
});

test('other healthy upstreams with the same id follow in their order, none behind a binding', () => {
  const names = followers(plainAddress('m'), toUpstream('upstream-cached'), picture).map(
    (each) => each.upstream,
  );
  expect(names).toEqual(['c', 'b']);
  expect(followers(plainAddress('m'), toUpstream('registry'), picture)).toEqual([]);
});

test('their number is bounded', () => {
  const many = Array.from({ length: 50 }, (_, index) => upstream(`u${index}`));
  const found = followers(plainAddress('m'), toUpstream('upstream-cached'), { ...picture, upstreams: many });
  expect(found).toHaveLength(3);
});
