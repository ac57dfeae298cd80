import { expect, test } from 'vitest';
import type { EngineRun } from './controller-deps.ts';
import { type SlotEvent, SlotEvents } from './slot-events.ts';

const engine = (change: Partial<EngineRun> = {}) =>
  ({ launch: { slot: 'agent' }, startedAt: 1_000, readySince: null, ...change }) as EngineRun;

function setUp() {
  const emitted: SlotEvent[] = [];
  const events = new SlotEvents(() => 4_000);
  const off = events.on((event) => void emitted.push(event));
  const calls: string[] = [];
  const record = (name: string) => () => void calls.push(name);
  const engines = events.lifecycleHooks({
    ready: record('ready'),
    serving: record('serving'),
    served: record('served'),
    ended: record('ended'),
  });
  return { events, engines, calls, emitted, off };
}

test('a load, its failure and a crash are distinct events with their times', () => {
  const { engines, calls, emitted, off } = setUp();
  engines.ready(engine({ readySince: 3_000 }));
  engines.failed(engine());
  engines.failed(engine({ readySince: 3_000 }));
  expect(emitted.map(({ kind }) => kind)).toEqual(['loaded', 'load_failed', 'crashed']);
  expect(emitted[0]).toEqual({ slot: 'agent', kind: 'loaded', startedAt: 1_000, at: 4_000 });
  engines.serving(engine());
  engines.served(engine());
  engines.ended(engine());
  expect(calls).toEqual(['ready', 'serving', 'served', 'ended']);
  off();
  engines.failed(engine());
  expect(emitted).toHaveLength(3);
});

test('an eviction is emitted once, and not for an engine that is leaving already or does not exist', () => {
  const { events, emitted } = setUp();
  let isEvicted = true;
  const owner = { current: engine(), evict: () => isEvicted };
  events.evict(owner);
  isEvicted = false;
  events.evict(owner);
  events.evict({ current: null, evict: () => true });
  events.evict(undefined);
  expect(emitted).toMatchObject([{ slot: 'agent', kind: 'evicted' }]);
});
