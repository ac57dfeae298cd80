import { expect, test } from 'vitest';
import type { EngineRun } from './controller-deps.ts';
import { type SlotEvent, SlotEvents } from './slot-events.ts';

const engine = (change: Partial<EngineRun> = {}) =>
  ({ launch: { slot: 'agent' }, startedAt: 1_000, readySince: null, ...change }) as EngineRun;

function setUp() {
  const told: SlotEvent[] = [];
  const works = new SlotEvents(() => 4_000);
  const off = works.on((work) => void told.push(work));
  const heard: string[] = [];
  const hear = (name: string) => () => void heard.push(name);
  const engines = works.lifecycleHooks({
    ready: hear('ready'),
    served: hear('served'),
    ended: hear('ended'),
  });
  return { works, engines, heard, told, off };
}

test('a load, its failure and a crash are told apart, with their times', () => {
  const { engines, heard, told, off } = setUp();
  engines.ready(engine({ readySince: 3_000 }));
  engines.failed(engine());
  engines.failed(engine({ readySince: 3_000 }));
  expect(told.map(({ kind }) => kind)).toEqual(['loaded', 'load_failed', 'crashed']);
  expect(told[0]).toEqual({ slot: 'agent', kind: 'loaded', startedAt: 1_000, at: 4_000 });
  engines.served(engine());
  engines.ended(engine());
  expect(heard).toEqual(['ready', 'served', 'ended']);
  off();
  engines.failed(engine());
  expect(told).toHaveLength(3);
});

test('an eviction is told once, and not of an engine that leaves already or is not there', () => {
  const { works, told } = setUp();
  let goes = true;
  const owner = { current: engine(), evict: () => goes };
  works.evict(owner);
  goes = false;
  works.evict(owner);
  works.evict({ current: null, evict: () => true });
  works.evict(undefined);
  expect(told).toMatchObject([{ slot: 'agent', kind: 'evicted' }]);
});
