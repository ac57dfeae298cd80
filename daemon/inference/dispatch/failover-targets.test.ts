import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { upstreamConfigOf } from '../testing/builders.ts';
import { NO_NAMES } from './configured-names.ts';
import { failoverTargets } from './failover-targets.ts';
import { plainModelRef } from './model-ref.ts';
import type { RoutingView } from './routing-view.ts';

const upstream = (name: string, over: object = {}) => upstreamConfigOf({ name, models: ['m'], ...over });
const view: RoutingView = {
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
  names: NO_NAMES,
  coldListsFetched: false,
};
const toSlot = { step: 'registry', target: { kind: 'slot', slot: 'utility', model: 's' } } as const;
const toUpstream = (step: string) =>
  ({ step, target: { kind: 'upstream', upstream: 'a', model: 'm' } }) as const;

test('a virtual name continues in its chain, a slot name does not', () => {
  const address = { ...plainModelRef('svc/utility'), lane: 'utility', chain: ['agent'] };
  expect(failoverTargets(address, toSlot, view)).toEqual([{ slot: 'agent', upstream: null }]);
  expect(failoverTargets({ ...address, lane: 'other' }, toSlot, view)).toEqual([]);
  expect(failoverTargets(plainModelRef('s'), toSlot, view)).toEqual([]);
});

test('healthy upstreams with the same id follow in order, none after a binding', () => {
  const names = failoverTargets(plainModelRef('m'), toUpstream('upstream-cached'), view).map(
    (each) => each.upstream,
  );
  expect(names).toEqual(['c', 'b']);
  expect(failoverTargets(plainModelRef('m'), toUpstream('registry'), view)).toEqual([]);
});

test('their number is bounded', () => {
  const many = Array.from({ length: 50 }, (_, index) => upstream(`u${index}`));
  const found = failoverTargets(plainModelRef('m'), toUpstream('upstream-cached'), {
    ...view,
    upstreams: many,
  });
  expect(found).toHaveLength(3);
});
