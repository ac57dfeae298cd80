import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { upstreamConfigOf } from '../testing/builders.ts';
import { NO_NAMES } from './configured-names.ts';
import { failoverPlan, type RefusalReason } from './failover-targets.ts';
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
    upstream('full', { isBusy: true, priority: -1 }),
    upstream('away', { isHealthy: false }),
    upstream('other', { models: [] }),
  ],
  disabledSlots: [],
  npuSuffix: 'flm',
  names: NO_NAMES,
  coldListsFetched: false,
};
const toSlot = { step: 'registry', target: { kind: 'slot', slot: 'utility', model: 's' } } as const;
const toUpstream = (step: string) =>
  ({ step, target: { kind: 'upstream', upstream: 'a', model: 'm' } }) as const;

const acceptsAll: RefusalReason = () => null;

test('a virtual name continues in its chain, a slot name does not', () => {
  const address = { ...plainModelRef('svc/utility'), lane: 'utility', chain: ['agent'] };
  const after = (of: typeof address) => failoverPlan(of, toSlot, view, acceptsAll).after;
  expect(after(address)).toEqual([{ slot: 'agent', upstream: null }]);
  expect(after({ ...address, lane: 'other' })).toEqual([]);
  expect(failoverPlan(plainModelRef('s'), toSlot, view, acceptsAll)).toEqual({ after: [], skipped: [] });
});

test('healthy upstreams with the same id follow in order, busy ones last, none after a binding', () => {
  const plan = failoverPlan(plainModelRef('m'), toUpstream('upstream-cached'), view, acceptsAll);
  expect(plan.after.map((each) => each.upstream)).toEqual(['c', 'b', 'full']);
  expect(plan.skipped).toEqual([{ upstream: 'away', reason: expect.stringContaining('failed') }]);
  const bound = failoverPlan(plainModelRef('m'), toUpstream('registry'), view, acceptsAll);
  expect(bound.after).toEqual([]);
  expect(bound.skipped.map((each) => each.upstream)).toEqual(['b', 'c', 'full', 'away']);
  expect(bound.skipped.every(({ reason }) => reason.includes('bound'))).toBe(true);
});

test('an upstream that would refuse the call is not tried, and its reason is named', () => {
  const refusesC: RefusalReason = (name) => (name === 'c' ? 'The daily limit is reached.' : null);
  const plan = failoverPlan(plainModelRef('m'), toUpstream('upstream-cached'), view, refusesC);
  expect(plan.after.map((each) => each.upstream)).toEqual(['b', 'full']);
  expect(plan.skipped).toContainEqual({ upstream: 'c', reason: 'The daily limit is reached.' });
});

test('their number is bounded', () => {
  const many = Array.from({ length: 50 }, (_, index) => upstream(`u${index}`));
  const { after, skipped } = failoverPlan(
    plainModelRef('m'),
    toUpstream('upstream-cached'),
    { ...view, upstreams: many },
    acceptsAll,
  );
  expect([after.length, skipped.length]).toEqual([3, 47]);
  expect(skipped[0]?.reason).toContain('at most 4 upstreams');
});
