import { expect, it } from 'vitest';
import { currentOf } from '../testing/memory.ts';
import { leaseFor, makeLease } from './lease.ts';

it('a caller that named a model gets no other one, and its lease is released', () => {
  let released = 0;
  const lease = () => makeLease(currentOf('cpu'), null, { onAbandon: () => {}, onRelease: () => released++ });
  for (const modelId of ['tiny', null, undefined]) expect(leaseFor(lease(), { modelId }).model).toBe('tiny');
  expect(released).toBe(0);
  expect(() => leaseFor(lease(), { modelId: 'other' })).toThrow(/model of slot .* was changed/);
  expect(released).toBe(1);
});

it('releases once', () => {
  let released = 0;
  const lease = makeLease(currentOf('cpu'), null, { onAbandon: () => {}, onRelease: () => released++ });
  lease.release();
  lease.release();
  expect(released).toBe(1);
});

it.each(['resolves', 'rejects'])(
  'an abandoned lease is released once when the engine is idle: the work %s',
  async (how) => {
    const events: string[] = [];
    const idle = Promise.withResolvers<void>();
    const lease = makeLease(currentOf('cpu'), null, {
      onAbandon: () => events.push('abandoned'),
      onRelease: (wasAbandoned) => events.push(`released ${wasAbandoned}`),
    });
    lease.releaseAfter(idle.promise);
    lease.release();
    lease.releaseAfter(Promise.resolve());
    await Promise.resolve();
    expect(events).toEqual(['abandoned']);
    if (how === 'resolves') idle.resolve();
    else idle.reject(new Error('lost'));
    await expect.poll(() => events).toEqual(['abandoned', 'released true']);
  },
);
