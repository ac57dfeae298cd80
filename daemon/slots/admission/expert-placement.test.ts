import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Hardware } from '../../hardware/hardware.ts';
import { contextOf } from '../../models/testing/context-of.ts';
import { admissionOn } from '../../test/harness/captured-machine.ts';
import { MODEL, slotConfig } from '../testing/controller-bench.ts';
import { currentOf } from '../testing/memory.ts';
import { KEEP_FREE_BYTES } from './eviction.ts';
import { placesTensors, requestedPlacement, smallestPlacement } from './expert-placement.ts';
import { type LaunchPlanInput, type MemoryHeadroom, planLoad } from './launch-plan.ts';
import type { MemoryUse } from './memory-use.ts';

const GB = 1e9;
const EXPERTS = { bytes: 18 * GB, layers: 40 };

describe('smallestPlacement', () => {
  it.each([
    ['fits whole', 20, 24, 64, null],
    ['needs a few layers', 25, 24, 64, 3],
    ['needs all layers', 42, 24, 64, 40],
    ['does not fit without all experts', 43, 24, 64, null],
    ['has no memory on the host', 25, 24, 1, null],
  ])('a model that %s', (_, needed, card, host, layers) => {
    const placement = smallestPlacement(EXPERTS, {
      needed: needed * GB,
      cardBytes: card * GB,
      hostBytes: host * GB,
    });
    expect(placement?.layers ?? null).toBe(layers);
  });

  it('fits the card, and would not with one layer less', () => {
    const bytes = fc.integer({ min: 1, max: 200 }).map((gb) => gb * GB);
    fc.assert(
      fc.property(bytes, bytes, fc.integer({ min: 1, max: 100 }), (needed, cardBytes, layers) => {
        const experts = { bytes: Math.ceil(needed * 0.9), layers };
        const placement = smallestPlacement(experts, { needed, cardBytes, hostBytes: Number.MAX_VALUE });
        if (placement === null) return;
        expect(needed - placement.bytes).toBeLessThanOrEqual(cardBytes);
        const less = (experts.bytes * (placement.layers - 1)) / layers;
        expect(needed - less).toBeGreaterThan(cardBytes);
      }),
    );
  });
});

test('the slot file requests all layers, some, or none', () => {
  const of = (text: string) =>
    requestedPlacement(slotConfig('moe', `engine = "llama-server"\n${text}`), EXPERTS);
  expect(of('')).toBeNull();
  expect(of('cpu_moe = true')).toEqual({ layers: 40, bytes: 18 * GB });
  expect(of('cpu_moe = false')).toEqual({ layers: 0, bytes: 0 });
  expect(of('n_cpu_moe = 10')).toEqual({ layers: 10, bytes: 4.5 * GB });
  expect(of('n_cpu_moe = 99')?.layers).toBe(40);
});

test.each(['--n-cpu-moe=3', '-ot', '-ngl', '--cpu-moe'])('%s among the arguments places tensors', (word) => {
  expect(placesTensors({ extraArgs: [word, '1'] })).toBe(true);
  expect(placesTensors({ extraArgs: ['--top-k', '1'] })).toBe(false);
});

describe('the plan of a mixture of experts', () => {
  const model = {
    ...MODEL,
    sizeBytes: 20 * GB,
    cardBytes: 19.5 * GB,
    contextTrain: 8192,
    contextMemory: contextOf(20_480),
    experts: EXPERTS,
  };
  const CARD = 8 * GB;
  /** A card of 8 GB with `free` bytes, and a host. */
  const headroom =
    (free: number, host: number) =>
    (device: string, needed: number): MemoryHeadroom =>
      device === 'cpu' || (device === 'auto' && needed > CARD)
        ? { pool: 'host', free: host }
        : { pool: 'card', free, total: CARD };
  const input = (over: Partial<LaunchPlanInput> = {}): LaunchPlanInput => ({
    model,
    others: [],
    cpuThreads: 0,
    cores: 8,
    queueMax: 64,
    headroom: headroom(CARD, 32 * GB),
    measured: () => null,
    ...over,
  });
  const config = (text = '') => slotConfig('moe', `engine = "llama-server"\n${text}`);
  const argsOf = ({ launch }: ReturnType<typeof planLoad>) => ('args' in launch.how ? launch.how.args : []);

  it('keeps as many experts on the host as the card cannot hold, and counts both memories', () => {
    const plan = planLoad(config(), input());
    const layers = plan.launch.expertLayersOnCpu ?? 0;
    expect(plan.headroom.pool).toBe('card');
    expect(plan.need.total).toBeLessThanOrEqual(CARD - KEEP_FREE_BYTES);
    expect(plan.need.total + EXPERTS.bytes / 40).toBeGreaterThan(CARD - KEEP_FREE_BYTES);
    expect(plan.need.host).toBe((EXPERTS.bytes * layers) / 40);
    expect(argsOf(plan).join(' ')).toContain(`-ngl 999 --n-cpu-moe ${layers}`);
  });

  it('is the same next to a loaded slot, which may be evicted, and smaller next to another program', () => {
    const alone = planLoad(config(), input()).launch.expertLayersOnCpu ?? 0;
    const other = currentOf('cuda', { pool: 'card', neededBytes: 3 * GB });
    const next = planLoad(config(), input({ headroom: headroom(CARD - 3 * GB, 32 * GB), others: [other] }));
    expect(next.launch.expertLayersOnCpu).toBe(alone);
    const crowded = planLoad(config(), input({ headroom: headroom(CARD - 3 * GB, 32 * GB) }));
    expect(crowded.launch.expertLayersOnCpu).toBeGreaterThan(alone);
  });

  it.each([
    ['the host has no memory', '', headroom(CARD, 4 * GB)],
    ['the slot file forbids it', 'cpu_moe = false', headroom(CARD, 32 * GB)],
    ['the slot file places tensors', 'extra_args = ["-ot", "exps=CPU"]', headroom(CARD, 32 * GB)],
    ['the slot runs on the CPU', 'device = "cpu"', headroom(CARD, 32 * GB)],
    ['memory is shared', '', (): MemoryHeadroom => ({ pool: 'host', free: 16 * GB })],
  ])('keeps none when %s', (_, text, of) => {
    const { launch, need } = planLoad(config(text), input({ headroom: of }));
    expect([launch.expertLayersOnCpu, need.host]).toEqual([undefined, 0]);
  });

  it('keeps none for a model that fits, and none in the embedded engine', () => {
    const small = { ...model, sizeBytes: 4 * GB, cardBytes: 4 * GB, experts: { bytes: 3 * GB, layers: 40 } };
    expect(planLoad(config(), input({ model: small })).launch.expertLayersOnCpu).toBeUndefined();
    expect(planLoad(slotConfig('moe'), input()).launch.expertLayersOnCpu).toBeUndefined();
  });

  it('does what the slot file says, also for a model that fits', () => {
    const small = { ...model, sizeBytes: 4 * GB, cardBytes: 4 * GB, experts: { bytes: 3 * GB, layers: 40 } };
    const plan = planLoad(config('device = "cuda:0"\nn_cpu_moe = 20'), input({ model: small }));
    expect([plan.launch.expertLayersOnCpu, plan.need.host]).toEqual([20, 1.5 * GB]);
    expect(argsOf(plan).join(' ')).toContain('--device CUDA0 -ngl 999 --n-cpu-moe 20');
  });
});

describe('admission of experts on the host', () => {
  const model = {
    ...MODEL,
    sizeBytes: 20 * GB,
    cardBytes: 19.5 * GB,
    contextTrain: 8192,
    contextMemory: contextOf(20_480),
    experts: EXPERTS,
  };
  const config = slotConfig('moe', 'engine = "llama-server"\ndevice = "cuda:0"\ncpu_moe = true');
  const admission = (hostFree: number, uses: readonly MemoryUse[] = []) =>
    admissionOn({} as Hardware, {
      model: () => model,
      memoryUses: () => uses,
      headroom: (device) =>
        device === 'cpu' ? { pool: 'host', free: hostFree } : { pool: 'card', free: 8 * GB, total: 8 * GB },
    });
  const outcome = (...of: Parameters<typeof admission>) =>
    admission(...of).forecast(config, model, null).view;

  it('takes the memory of card and host', () => {
    expect(outcome(32 * GB)).toMatchObject({ outcome: 'starts', sum: { pool: 'card' } });
    const start = admission(32 * GB).admit(config, true);
    expect(start).toMatchObject({ kind: 'start', admitted: { pool: 'card', hostBytes: 18 * GB } });
  });

  it('is refused with the sum of the host when the host has too little', () => {
    expect(outcome(16 * GB)).toMatchObject({ outcome: 'refused', sum: { pool: 'host', needed: 18 * GB } });
  });

  it('counts the experts of other slots, and evicts slots of the host', () => {
    const use = (name: string, over: Parameters<typeof currentOf>[1], device: string): MemoryUse => ({
      name,
      state: 'ready',
      pinned: false,
      priority: 0,
      lastUsedAt: 0,
      current: currentOf(device, { readySince: 1, ...over }),
    });
    const other = use('other', { pool: 'card2', neededBytes: GB, hostBytes: 10 * GB }, 'cuda');
    expect(outcome(24 * GB, [other])).toMatchObject({ outcome: 'refused', sum: { reserved: 10 * GB } });
    const onHost = use('host', { neededBytes: 10 * GB, weightBytes: 10 * GB }, 'cpu');
    expect(outcome(24 * GB, [onHost])).toMatchObject({ outcome: 'evicts', evicts: ['host'] });
  });
});
