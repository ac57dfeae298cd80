import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { Hardware } from '../hardware/hardware.ts';
import { MACHINES } from '../hardware/testing/fake-machine.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { readCatalog, SHIPPED_CATALOG } from '../models/catalog.ts';
import { quickStart, type RecommendInput, recommend } from '../setup/recommend.ts';
import { probedMachine } from '../test/harness/captured-machine.ts';
import { defaultContexts } from './default-context.ts';
import { modelSpeeds } from './model-speed.ts';
import { totalFit } from './total-fit.ts';

const { entries, preferred, quick_start } = readCatalog(SHIPPED_CATALOG);
const machines = new Map<string, Hardware>();
const ends: (() => void)[] = [];
beforeAll(async () => {
  for (const name of MACHINES) machines.set(name, await probedMachine(name, ends));
}, 300_000);
afterAll(() => {
  for (const end of ends) end();
});

/** The input of setup on a captured machine whose pools have this share of their memory free. */
function inputOf(name: string, free: number, bandwidth = 20e9, cores = 8): RecommendInput {
  const real = machines.get(name) as Hardware;
  const view = real.last();
  const last = () =>
    view && {
      ...view,
      pools: view.pools.map((pool) => ({ ...pool, available_bytes: pool.total_bytes * free })),
    };
  const hardware = { last, memoryTotal: () => real.memoryTotal(), coresPhysical: () => cores };
  const withDefaultContext = defaultContexts({
    ...{ hardware, bus: new EventBus<GatewayEvents>() },
    memoryLimit: () => 0,
  });
  const fitByTotals = totalFit({ hardware, memoryLimit: () => 0, cpuThreads: () => 0, withDefaultContext });
  const speedOf = modelSpeeds({ hardware, bandwidth: { current: () => bandwidth } });
  const kindOf = (pool: string) => view?.pools.find(({ id }) => id === pool)?.kind;
  return {
    ...{ entries, preferred, cores, diskBytes: null, filledSlots: new Set(), installed: () => null },
    isHostMemory: (pool) => kindOf(pool) === 'host',
    isUnified: (pool) => kindOf(pool) === 'unified',
    fit: (model, planned) => {
      const found = fitByTotals(model, planned);
      const speed = speedOf(model, found);
      return speed === null ? found : { ...found, speed };
    },
  };
}

describe.each(MACHINES)('setup on the captured machine %s', (name) => {
  test('gives the same answer whatever is free, within three quarters of the memory', () => {
    const [full, busy] = [recommend(inputOf(name, 1)), recommend(inputOf(name, 0.1))];
    expect(busy).toEqual(full);
    const totals = new Map<string, number>();
    for (const { pool, needed_bytes: needed } of full.items)
      totals.set(pool, (totals.get(pool) ?? 0) + needed);
    const hardware = machines.get(name) as Hardware;
    for (const [pool, bytes] of totals) {
      const own = hardware.last()?.pools.find(({ id }) => id === pool)?.total_bytes;
      const total = Math.max(own ?? 0, pool === 'host' ? hardware.memoryTotal() : 0);
      expect(bytes).toBeLessThanOrEqual(0.75 * total + 1);
    }
  });

  test('offers up to three sizes of the chat model, the chosen one last, each clearly smaller', () => {
    const { chat, items } = recommend(inputOf(name, 1));
    expect(chat.at(-1)?.item).toEqual(
      items.find(({ purpose }) => purpose === 'chat' || purpose === 'coding'),
    );
    for (const [at, { item }] of chat.slice(1).entries())
      expect((chat[at]?.item.size_bytes ?? 0) / item.size_bytes).toBeLessThanOrEqual(0.65);
  });

  test('has a quick start that is usable within a minute', () => {
    const item = quickStart(inputOf(name, 1), quick_start);
    expect(item?.size_bytes).toBeGreaterThan(1e8);
    expect(item?.size_bytes).toBeLessThan(5e8);
    expect(item?.slot).toBe('agent');
  });
});

test('two slow cores never get a model of 20 billion weights or more that is slower than reading', () => {
  for (const name of MACHINES.filter((each) => ['no-gpu', 'nvidia-driver-broken'].includes(each))) {
    const { chat } = recommend(inputOf(name, 1, 8e9, 2));
    expect(chat.length).toBeGreaterThan(0);
    for (const { item } of chat) {
      expect(item.speed?.low).toBeGreaterThanOrEqual(4);
      expect(item.size_bytes).toBeLessThan(10e9);
    }
  }
});
