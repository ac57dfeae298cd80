import { expect, it } from 'vitest';
import { currentOf } from '../testing/memory.ts';
import { leaseFor, makeLease } from './lease.ts';

it('a caller that named a model gets no other one, and its lease is released', () => {
  let released = 0;
  const lease = () => makeLease(currentOf('cpu'), null, () => released++);
  for (const modelId of ['tiny', null, undefined]) expect(leaseFor(lease(), { modelId }).model).toBe('tiny');
  expect(released).toBe(0);
  expect(() => leaseFor(lease(), { modelId: 'other' })).toThrow(/model of slot .* was changed/);
  expect(released).toBe(1);
});

it('releases once', () => {
  let released = 0;
  const lease = makeLease(currentOf('cpu'), null, () => released++);
  lease.release();
  lease.release();
  expect(released).toBe(1);
});
