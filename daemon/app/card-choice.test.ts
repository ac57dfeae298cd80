import { afterEach, describe, expect, it } from 'vitest';
import type { Hardware } from '../hardware/hardware.ts';
import type { MemoryHeadroom } from '../slots/admission/launch-plan.ts';
import type { MemoryUse } from '../slots/admission/memory-use.ts';
import { MODEL, slotConfig } from '../slots/testing/controller-bench.ts';
import { currentOf } from '../slots/testing/memory.ts';
import { admissionOn } from '../test/harness/captured-machine.ts';

const GIB = 1024 ** 3;

describe('loads with device auto on two GPUs of 24 GiB', () => {
  const memoryUse = (
    name: string,
    bytes: number,
    over: Partial<MemoryUse> & { pool: string; ready?: boolean },
  ): MemoryUse => {
    const { pool, ready = true, ...more } = over;
    const current = currentOf(ready ? 'cuda' : null, { pool, neededBytes: bytes, weightBytes: bytes });
    const state = ready ? ('ready' as const) : ('starting' as const);
    return { name, state, pinned: false, priority: 0, lastUsedAt: 0, current, ...more };
  };
  /** Returns the outcome of a load of `needed` GiB next to these slots. */
  function outcome(used: [number, number], loaded: MemoryUse[], needed: number, text = '') {
    const pools = used.map((gib, at) => ({ pool: `c${at}`, free: (24 - gib) * GIB, card: [`cuda:${at}`] }));
    const [largest, ...alternatives] = pools.sort((one, other) => other.free - one.free);
    const model = { ...MODEL, sizeBytes: needed * GIB, kvBytesPerToken: 0, embedding: 0 };
    const evicted: string[] = [];
    const loads = admissionOn({} as Hardware, {
      headroom: () => ({ ...(largest as MemoryHeadroom), alternatives }),
      model: () => model,
      memoryUses: () => loaded,
      evict: (slot) => evicted.push(slot),
    });
    const admit = () => loads.admit(slotConfig('new', text), loaded[0]?.state !== 'starting');
    ends.push(() => loads.withdraw('new'));
    return { admit, evicted, forecast: () => loads.forecast(slotConfig('new', text), model, null).view };
  }
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  it('avoid the GPU on which another model is being loaded', () => {
    const { admit } = outcome([1, 0], [memoryUse('a', 20 * GIB, { pool: 'c1', ready: false })], 20);
    expect(admit()).toMatchObject({ kind: 'start', admitted: { pool: 'c0' } });
  });

  it('go to the GPU with an idle slot to evict, not to the one with a pinned slot', () => {
    const loaded = [
      memoryUse('agent', 16 * GIB, { pool: 'c0', pinned: true }),
      memoryUse('idle', 20 * GIB, { pool: 'c1' }),
    ];
    const { admit, evicted, forecast } = outcome([16, 20], loaded, 15);
    expect(forecast()).toMatchObject({ outcome: 'evicts', evicts: ['idle'], sum: { pool: 'c1' } });
    expect(admit()).toEqual({ kind: 'wait', for: ['idle'] });
    expect(evicted).toEqual(['idle']);
  });

  it('evict an idle slot before a busy one on the GPU with more memory', () => {
    const busy = memoryUse('busy', 16 * GIB, { pool: 'c0', state: 'serving' });
    const loaded = [busy, memoryUse('idle', 20 * GIB, { pool: 'c1' })];
    expect(outcome([16, 20], loaded, 15).admit()).toEqual({ kind: 'wait', for: ['idle'] });
  });

  it('count against the GPU with the most free memory when the slot file selects GPUs itself', () => {
    const loaded = [
      memoryUse('agent', 16 * GIB, { pool: 'c0', pinned: true }),
      memoryUse('idle', 20 * GIB, { pool: 'c1' }),
    ];
    const { admit } = outcome([16, 20], loaded, 15, '[env]\nCUDA_VISIBLE_DEVICES = "0"');
    expect(admit).toThrow(expect.objectContaining({ code: 'slot.no_memory' }));
  });
});
