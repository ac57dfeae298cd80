import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { currentOf } from '../testing/memory.ts';
import type { EngineRun } from './controller-deps.ts';
import { Serving } from './serving.ts';
import { SlotMachine } from './slot.ts';

/** A ready slot that is idle after a minute. */
function ready() {
  const clock = new ManualClock();
  const machine = new SlotMachine('chat', () => {}, clock.now.bind(clock));
  for (const to of ['starting', 'warming', 'ready'] as const) machine.transition(to);
  const events: string[] = [];
  const bench = { current: currentOf('cpu') as EngineRun | null };
  const serving = new Serving({
    clock,
    machine,
    current: () => bench.current,
    degraded: () => null,
    idleTimeoutS: () => 60,
    onIdle: () => events.push('idle'),
    onServing: () => events.push('serving'),
    onAbandoned: () => events.push('abandoned'),
    onRequestEnded: () => events.push('ended'),
  });
  return { clock, machine, events, bench, serving };
}

it('serves while a request runs, and becomes idle after the last one', async () => {
  const { clock, machine, events, serving } = ready();
  const [first, second] = [serving.grantLease(), serving.grantLease()];
  expect([machine.state, serving.traffic.active]).toEqual(['serving', 2]);
  first.release();
  await clock.advance(120_000);
  expect([machine.state, serving.traffic.active, events]).toEqual(['serving', 1, ['serving', 'ended']]);
  second.release();
  expect(machine.state).toBe('ready');
  await clock.advance(60_000);
  expect(events).toEqual(['serving', 'ended', 'ended', 'idle']);
  expect(serving.traffic.requests).toBe(2);
});

it('the leases of an engine that has ended do not count for the next one', async () => {
  const { clock, events, bench, serving } = ready();
  const lease = serving.grantLease();
  serving.abandon();
  bench.current = currentOf('cpu');
  lease.release();
  await clock.advance(120_000);
  expect([serving.traffic.active, events]).toEqual([0, ['serving']]);
});

it('a slot that is being stopped is no longer idle', async () => {
  const { clock, events, serving } = ready();
  serving.startIdleTimer();
  serving.stopIdleTimer();
  await clock.advance(120_000);
  expect(events).toEqual([]);
});

it('counts an abandoned request until the engine has finished it, and none of an engine that has ended', async () => {
  const { machine, events, bench, serving } = ready();
  const [first, second] = [serving.grantLease(), serving.grantLease()];
  const idle = Promise.withResolvers<void>();
  first.releaseAfter(idle.promise);
  expect(serving.traffic).toMatchObject({ active: 2, abandoned: 1 });
  expect(events).toEqual(['serving', 'abandoned']);
  idle.resolve();
  await expect.poll(() => serving.traffic).toMatchObject({ active: 1, abandoned: 0 });
  expect(machine.state).toBe('serving');
  second.releaseAfter(Promise.resolve());
  serving.abandon();
  bench.current = null;
  await Promise.resolve();
  expect(serving.traffic).toMatchObject({ active: 0, abandoned: 0 });
});
