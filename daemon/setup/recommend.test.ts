import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultContexts } from '../app/default-context.ts';
import { memoryHeadroom } from '../app/memory-headroom.ts';
import type { ModelFitView } from '../contract/catalog.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { Hardware } from '../hardware/hardware.ts';
import { MACHINES } from '../hardware/testing/fake-machine.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { type KnownModel, readCatalog, SHIPPED_CATALOG } from '../models/catalog.ts';
import { KEEP_FREE_BYTES } from '../slots/admission/eviction.ts';
import { fitOf, slotFor } from '../slots/admission/fit.ts';
import { admissionOn, probedMachine } from '../test/harness/captured-machine.ts';
import { asSlotModel, type PlannedMemory, type RecommendInput, recommend } from './recommend.ts';

const { entries, preferred } = readCatalog(SHIPPED_CATALOG);
const machines = new Map<string, Hardware>();
const ends: (() => void)[] = [];

beforeAll(async () => {
  for (const name of MACHINES) machines.set(name, await probedMachine(name, ends));
});
afterAll(() => {
  for (const end of ends) end();
});

const of = (name: string): Hardware => machines.get(name) as Hardware;

const loadsOn = (hardware: Hardware, memoryLimit = 0) =>
  admissionOn(hardware, { memoryLimit: () => memoryLimit });

const withWindow = (hardware: Hardware) =>
  defaultContexts({ hardware, bus: new EventBus<GatewayEvents>(), memoryLimit: () => 0 });

function inputFor(
  hardware: Hardware,
  over: Partial<RecommendInput> & { memoryLimit?: number } = {},
): RecommendInput {
  const loads = loadsOn(hardware, over.memoryLimit);
  const kindOf = (pool: string) => hardware.view()?.pools.find(({ id }) => id === pool)?.kind;
  return {
    entries,
    preferred,
    fit: (model, planned) =>
      fitOf(model, (config, slotModel) =>
        loads.forecast(config, withWindow(hardware)(config, slotModel), null, planned),
      ),
    isHostMemory: (pool) => kindOf(pool) === 'host',
    isUnified: (pool) => kindOf(pool) === 'unified',
    cores: 8,
    diskBytes: 1e12,
    filledSlots: new Set(),
    installed: () => null,
    ...over,
  };
}

const summary = (input: RecommendInput) =>
  recommend(input).items.map(({ slot, name, context }) => `${slot}: ${name}${context ? ` ${context}` : ''}`);

describe.each(MACHINES)('on the captured machine %s', (name) => {
  test('the whole set fits at once, by the admission result of each model after the others', () => {
    const hardware = of(name);
    const { items, leftOut } = recommend(inputFor(hardware));
    const planned = new Map<string, number>();
    for (const item of items) {
      const known: KnownModel | undefined = entries.find((each) => each.model === item.model);
      if (known === undefined) throw new Error(`${item.model} is not in the catalogue`);
      const model = asSlotModel(known);
      const config = slotFor(model, item.smaller_window ? item.context : null);
      const sized = withWindow(hardware)(config, model);
      const { view } = loadsOn(hardware).forecast(config, sized, null, planned as PlannedMemory);
      expect([item.name, view.outcome, view.sum.pool]).toEqual([item.name, 'starts', item.pool]);
      expect(view.sum.needed).toBe(item.needed_bytes);
      planned.set(item.pool, (planned.get(item.pool) ?? 0) + item.needed_bytes);
    }
    for (const [pool, bytes] of planned) {
      const isShared = hardware.view()?.pools.some(({ id, kind }) => id === pool && kind === 'unified');
      const needed = pool === 'host' && !isShared ? Number.MAX_SAFE_INTEGER : bytes;
      const { free } = memoryHeadroom(hardware, 'auto', needed);
      expect(bytes + KEEP_FREE_BYTES).toBeLessThanOrEqual(free);
    }
    const purposes = [...items, ...leftOut].map(({ purpose }) => purpose);
    expect(new Set(purposes).size).toBe(purposes.length);
    expect(new Set(items.map(({ slot }) => slot)).size).toBe(items.length);
  });
});

test('the recommendations for each captured machine', () => {
  expect(
    Object.fromEntries(MACHINES.map((name) => [name, summary(inputFor(of(name)))])),
  ).toMatchInlineSnapshot(`
    {
      "amd-dgpu": [
        "agent: Qwen3.8 27B 8192",
        "embed: Nomic Embed Text v1.5 2048",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
      ],
      "amd-dgpu-old-amd-smi": [
        "agent: Qwen3.5 9B 8192",
        "embed: Nomic Embed Text v1.5 2048",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
      ],
      "amd-strix-halo-carveout-no-npu": [
        "agent: Gemma 4 26B A4B 131072",
        "embed: Qwen3 Embedding 0.6B 8192",
        "tts: Kokoro 82M multi-lang v1.0",
        "rerank: BGE Reranker v2 M3 1024",
        "utility: Qwen3.5 2B 131072",
      ],
      "amd-strix-halo-npu": [
        "agent: gpt-oss 120B 131072",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
        "rerank: BGE Reranker v2 M3 1024",
        "utility: Qwen3.5 2B 131072",
      ],
      "arm-rk3588-npu": [
        "agent: Gemma 4 E4B 65536",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
      ],
      "intel-arc-npu": [
        "agent: Qwen3.8 27B 8192",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
        "rerank: BGE Reranker v2 M3 1024",
        "utility: Qwen3.5 2B 4096",
      ],
      "mixed-amd-igpu-nvidia-dgpu": [
        "agent: gpt-oss 20B 8192",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
      ],
      "no-gpu": [
        "agent: Gemma 4 26B A4B 8192",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
      ],
      "nvidia-driver-broken": [
        "agent: Qwen3.6 35B A3B 131072",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
        "rerank: BGE Reranker v2 M3 1024",
        "utility: Qwen3.5 2B 131072",
      ],
      "nvidia-dual": [
        "agent: Qwen3.8 27B 8192",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
        "rerank: BGE Reranker v2 M3 1024",
        "utility: Qwen3.5 2B 65536",
      ],
      "nvidia-single": [
        "agent: Qwen3.8 27B 8192",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
        "rerank: BGE Reranker v2 M3 1024",
        "utility: Qwen3.5 2B 4096",
      ],
      "nvidia-unified-gb10": [
        "agent: Qwen3.8 Flash-Next 8192",
        "embed: Qwen3 Embedding 0.6B 8192",
        "stt: Parakeet TDT 0.6B v3",
        "tts: Kokoro 82M multi-lang v1.0",
        "rerank: BGE Reranker v2 M3 1024",
        "utility: Qwen3.5 0.8B 8192",
      ],
    }
  `);
});

describe('existing resources and models', () => {
  const big = () => of('nvidia-single');

  test('for a nearly full disk, recommends models that fit and gives the reason for the omitted ones', () => {
    for (let diskBytes = 0; diskBytes < 30e9; diskBytes += 7e8) {
      const { items, leftOut } = recommend(inputFor(big(), { diskBytes }));
      expect(items.reduce((all, item) => all + item.size_bytes, 0)).toBeLessThanOrEqual(diskBytes);
      if (diskBytes === 0) expect(leftOut.map(({ reason }) => reason)).toEqual(Array(5).fill('disk'));
    }
  });

  test('models that were downloaded before need no disk space', () => {
    const { items } = recommend(inputFor(big(), { diskBytes: 0, installed: ({ name }) => name }));
    expect(items.length).toBeGreaterThan(3);
    expect(items.every(({ name, installed }) => name === installed)).toBe(true);
  });

  test('recommends nothing for a slot that has a model', () => {
    const { items, leftOut } = recommend(inputFor(big(), { filledSlots: new Set(['agent', 'tts']) }));
    expect(items.map(({ slot }) => slot)).toEqual(['embed', 'stt', 'rerank']);
    expect(leftOut).toEqual([
      { purpose: 'chat', reason: 'has_model' },
      { purpose: 'speaking', reason: 'has_model' },
    ]);
  });

  test('a limit for the memory of models applies to all of them together', () => {
    for (const memoryLimit of [1e9, 3e9, 6e9, 12e9]) {
      const { items } = recommend(inputFor(of('no-gpu'), { memoryLimit }));
      const totalBytes = items.reduce((all, item) => all + item.needed_bytes, 0);
      expect(totalBytes).toBeLessThanOrEqual(memoryLimit);
    }
  });

  test('a slow processor gets a model that responds at reading speed', () => {
    const chat = (cores: number) => summary(inputFor(of('no-gpu'), { cores }))[0];
    expect([chat(1), chat(2), chat(4), chat(16)]).toMatchInlineSnapshot(`
      [
        "agent: Qwen3.5 0.8B 131072",
        "agent: Gemma 4 26B A4B 8192",
        "agent: Gemma 4 26B A4B 8192",
        "agent: Gemma 4 26B A4B 8192",
      ]
    `);
  });

  test('without enough memory the set is empty and has a reason', () => {
    const nothing: ModelFitView = {
      cpu_experts: null,
      badge: 'does_not_fit',
      context: null,
      evicts: [],
      needed: 1,
      free: 0,
      pool: 'host',
    };
    const { items, leftOut } = recommend(inputFor(big(), { fit: () => nothing }));
    expect(items).toEqual([]);
    expect(leftOut.every(({ reason }) => reason === 'memory')).toBe(true);
  });
});
