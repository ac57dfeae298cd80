import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { readGgufMetadata } from '../../models/gguf-metadata.ts';
import { contextOf } from '../../models/testing/context-of.ts';
import { writeModelHeader } from '../../models/testing/gguf/model-header.ts';
import { PUBLISHED_ENCODERS } from '../../models/testing/gguf/published-models.ts';
import { planOf } from '../testing/plans.ts';
import { evaluationOf, type ModelSize, needOf, programNeed } from './memory-estimate.ts';

const GIB = 1024 ** 3;
const model8b: ModelSize = {
  sizeBytes: 5 * GIB,
  kvBytesPerToken: 131_072,
  contextMemory: null,
  cardBytes: null,
  embedding: 4096,
  measuredBytes: null,
};
const run = (context: number, sequences: number, batch = 512) => ({ context, sequences, batch });

describe('needOf', () => {
  it('adds weights, keys and values, compute buffers and the engine', () => {
    const need = needOf(model8b, run(8192, 2));
    expect(need.window).toBe(2 * GIB);
    expect(need.total).toBe(need.weights + need.window + need.compute + need.engine);
    expect(need.source).toBe('estimated');
  });

  it('grows with context and parallelism', () => {
    expect(needOf(model8b, run(4096, 1)).window * 4).toBe(needOf(model8b, run(8192, 2)).window);
  });

  it('the compute buffers grow with the tokens of one step', () => {
    expect(needOf(model8b, run(8192, 1, 1024)).compute).toBe(needOf(model8b, run(8192, 1)).compute * 2);
  });

  it('estimates within bounds when the header lacks the value', () => {
    const dark = { ...model8b, kvBytesPerToken: null };
    expect(needOf(dark, run(8192, 1)).window).toBeGreaterThan(GIB / 2);
    expect(needOf({ ...dark, sizeBytes: 1 }, run(1000, 1)).window).toBe(1000 * 1024);
  });

  it('a measurement on this machine replaces the estimate', () => {
    expect(needOf({ ...model8b, measuredBytes: 7 }, run(8192, 2))).toMatchObject({
      total: 7,
      source: 'measured',
    });
  });
});

describe('needOf with the sizes of the header', () => {
  const MB = 1e6;
  const MODELS = [
    // name, full, sliding, window, state, embedding, vocabulary, MB that llama.cpp allocates at 8k, 32k and 131k
    ['Qwen3.8 27B', 65_536, 0, 0, 156_893_184, 5120, 248_320, [1242, 2844, 9411]],
    ['Qwen3.6 35B A3B', 20_480, 0, 0, 65_863_680, 2048, 248_320, [755, 1258, 3271]],
    ['Qwen3.5 9B', 32_768, 0, 0, 52_690_944, 4096, 248_320, [855, 1660, 4881]],
    ['Gemma 4 31B', 81_920, 819_200, 1024, 0, 5376, 262_144, [2765, 4723, 12776]],
    ['Gemma 4 26B A4B', 20_480, 204_800, 1024, 0, 2816, 262_144, [1105, 1598, 3611]],
    ['Gemma 4 12B', 16_384, 327_680, 1024, 0, 3840, 262_144, [1285, 1686, 3407]],
    ['Gemma 4 E4B', 16_384, 40_960, 512, 0, 2560, 262_144, [745, 1183, 2895]],
    ['gpt-oss 20B', 24_576, 24_576, 128, 0, 2880, 201_088, [678, 1254, 3670]],
    ['GLM 4.7 Flash', 54_144, 0, 0, 0, 2048, 154_880, [795, 2125, 7448]],
    ['Nemotron 3 Nano 30B', 6_144, 0, 0, 49_930_240, 2688, 131_072, [394, 542, 1146]],
    ['LFM2.5 8B A1B', 12_288, 0, 0, 294_912, 2048, 65_536, [244, 546, 1802]],
    ['Qwen3 8B', 147_456, 0, 0, 0, 4096, 151_936, [1536, 5160, 19655]],
  ] as const;

  it.each(MODELS)(
    '%s is within 15 %% of llama.cpp',
    (_, full, sliding, slidingWindow, state, embedding, vocabulary, expected) => {
      const contextMemory = contextOf(full, {
        slidingBytesPerToken: sliding,
        slidingWindow,
        stateBytesPerSequence: state,
        vocabulary,
        stepBytes: 32 * embedding,
      });
      const size = { ...model8b, contextMemory };
      for (const [index, context] of [8192, 32_768, 131_072].entries()) {
        const { window, compute } = needOf(size, { ...run(context, 1), onCard: true });
        const mask = 2 * context * 512;
        const ratio = (window + compute - mask) / ((expected[index] ?? 0) * MB);
        expect(ratio).toBeGreaterThan(0.92);
        expect(ratio).toBeLessThan(1.15);
      }
    },
  );

  const header = contextOf(1000, {
    slidingBytesPerToken: 100,
    slidingWindow: 1024,
    stateBytesPerSequence: 7_000_000,
    vocabulary: 10_000,
  });
  const plain: ModelSize = { ...model8b, cardBytes: 4 * GIB, contextMemory: header };
  const window = (evaluation: Parameters<typeof needOf>[1]) => needOf(plain, evaluation).window;

  it('F8: pads the cells to 256 for each sequence, so that 100 tokens take 256 cells', () => {
    const card = { onCard: true };
    expect(window({ ...run(100, 1), ...card })).toBe(1100 * 256 + 7_000_000);
    expect(window({ ...run(257, 3), ...card })).toBe(3 * (1100 * 512 + 7_000_000));
  });

  it('sliding layers keep the window and one step, not the whole context', () => {
    expect(window({ ...run(65_536, 1), onCard: true })).toBe(1000 * 65_536 + 100 * 1792 + 7_000_000);
  });

  it('counts bounded checkpoints on the host, and none on a card', () => {
    const card = window({ ...run(65_536, 1), onCard: true });
    expect(window(run(65_536, 1))).toBe(card + 8 * (100 * 1024 + 7_000_000));
    // One at each whole interval of 2,048 tokens, and one where a prefix is evaluated again.
    const small = (context: number) => window(run(context, 1)) - window({ ...run(context, 1), onCard: true });
    expect(small(2047)).toBe(100 * 1024 + 7_000_000);
    expect(small(2048)).toBe(2 * (100 * 1024 + 7_000_000));
    expect(small(512)).toBe(100 * 512 + 7_000_000);
    const large = {
      ...plain,
      contextMemory: { ...header, stateBytesPerSequence: 150_000_000 },
    };
    const onHost = needOf(large, run(65_536, 2)).window;
    const checkpoint = 100 * 1024 + 150_000_000;
    expect(onHost - needOf(large, { ...run(65_536, 2), onCard: true }).window).toBe(2 * checkpoint);
  });

  it('counts logits for each token of a step, or for the outputs of the engine', () => {
    const difference = (outputs: number) =>
      needOf(plain, run(8192, 1)).compute - needOf(plain, { ...run(8192, 1), outputs }).compute;
    expect(difference(2)).toBe(4 * 10_000 * 510);
    expect(difference(9_999)).toBe(0);
  });

  it('a card does not hold the token tables', () => {
    expect(needOf(plain, { ...run(8192, 1), onCard: true }).weights).toBe(4 * GIB);
    expect(needOf(plain, run(8192, 1)).weights).toBe(5 * GIB);
  });

  const evaluated = {
    engine: 'embedded',
    type: 'llm',
    context: 8192,
    sequences: 2,
    parallel: 2,
    batch: 512,
  } as const;
  const on = (engine: string, onCard: boolean, draftTokens = 0) =>
    needOf(plain, evaluationOf({ ...evaluated, engine, draftTokens }, onCard));

  it('F6: counts half a gigabyte of logits for a vocabulary of 248,320, in the embedded engine only', () => {
    const contextMemory = contextOf(65_536, { vocabulary: 248_320 });
    const of = (engine: string, batch = 512) =>
      needOf({ ...plain, contextMemory }, evaluationOf({ ...evaluated, engine, batch }, true)).compute;
    const mask = 2 * 8192 * 512;
    expect(of('embedded') - mask).toBe(508_559_360);
    expect(of('embedded', 2048) - 4 * mask).toBe(2_034_237_440);
    expect(of('llama-server') - mask).toBe(4 * 248_320 * 2);
  });

  it('F6: logits that are never written take nothing on the CPU, unless vectors are returned', () => {
    const contextMemory = contextOf(65_536, { vocabulary: 248_320, outputBytes: 4 * 248_320 });
    const of = (type: 'llm' | 'embedding') =>
      needOf({ ...plain, contextMemory }, evaluationOf({ ...evaluated, engine: 'embedded', type }, false))
        .compute;
    const mask = 2 * 8192 * 512;
    expect(of('llm') - mask).toBe(4 * 248_320 * 2);
    expect(of('embedding') - mask).toBe(2 * 508_559_360);
  });

  it('F7: Qwen3 Embedding 0.6B reads a window of 8,192 in steps of 512 instead of one', async () => {
    const published = PUBLISHED_ENCODERS.find(({ name }) => name === 'Qwen3 Embedding 0.6B');
    if (published === undefined) throw new Error('no header');
    const path = join(scratch(), 'qwen3-embedding.gguf');
    await writeModelHeader(path, published);
    const metadata = await readGgufMetadata(path);
    const launch = planOf('type = "embedding"', metadata);
    expect(launch).toMatchObject({ context: 8192, batch: 512 });
    const contextBytes = (batch: number) => {
      const { window, compute } = needOf(
        { ...metadata, measuredBytes: null },
        evaluationOf({ ...launch, batch }, true),
      );
      return window + compute;
    };
    // llama.cpp allocates 6.08 GB for one step of the whole window.
    expect(contextBytes(8192) / 6.08e9).toBeGreaterThan(0.92);
    expect(contextBytes(8192) / 6.08e9).toBeLessThan(1.15);
    expect(contextBytes(launch.batch)).toBeLessThan(1.4e9);
  });

  it('counts the widest layer where few rows of logits are computed', () => {
    const contextMemory = contextOf(1000, { vocabulary: 10_000, stepBytes: 10, networkBytes: 70_000 });
    const simulated = [{ context: 8192, windowBytes: 8_192_000, stepBytes: 20_000 }];
    const of = (model: ModelSize) => needOf(model, { ...run(8192, 1), outputs: 1 }).compute;
    const mask = 2 * 8192 * 512;
    expect(of({ ...plain, contextMemory })).toBe(70_000 * 512 + mask);
    expect(of({ ...plain, contextMemory, simulated })).toBe(70_000 * 512 + mask);
  });

  it('counts an encoder with the outputs of each token, which llama.cpp allocates for it as well', () => {
    const encoder = contextOf(0, { stepBytes: 100, outputBytes: 4 * 30_522 });
    const evaluation = { ...run(512, 1), returnsVectors: true };
    const compute = (onCard: boolean) =>
      needOf({ ...plain, contextMemory: encoder }, { ...evaluation, onCard }).compute;
    expect(compute(false) - compute(true)).toBe(4 * 30_522 * 512);
  });

  it('counts tokens and merges in the process, and a flat sum on a card or without a vocabulary', () => {
    const contextMemory = contextOf(1000, { tokenizerBytes: 300 * 30_000 });
    const engine = (onCard: boolean, model: ModelSize = { ...plain, contextMemory }) =>
      needOf(model, { ...run(512, 1), onCard }).engine;
    expect(engine(false)).toBe(62 * 1024 ** 2 + 300 * 30_000);
    expect(engine(true)).toBe(160 * 1024 ** 2);
    expect(engine(false, plain)).toBe(160 * 1024 ** 2);
  });

  it('F11: counts a copy of the state for each token that is predicted ahead, and the layer that predicts', () => {
    const contextMemory = contextOf(65_536, { stateBytesPerSequence: 156_893_184, draftBytesPerToken: 4096 });
    const of = (draftTokens: number) => {
      const evaluation = evaluationOf({ ...evaluated, engine: 'llama-server', draftTokens }, true);
      return needOf({ ...plain, contextMemory }, evaluation).window;
    };
    expect(of(3) - of(0)).toBe(2 * (3 * 156_893_184 + 4096 * 8192));
  });

  it('F12: counts the prompt cache and the checkpoints of llama-server on the host', () => {
    const perSequence = (stepCells: number) => 1000 * 8192 + 100 * stepCells + 7_000_000;
    expect(on('llama-server', true).window).toBe(2 * perSequence(1536));
    const checkpoint = 100 * 1024 + 7_000_000;
    expect(on('llama-server', false).window).toBe(2 * (perSequence(1536) + 5 * checkpoint) + 64 * 1024 ** 2);
    expect(on('embedded', true).window).toBe(2 * perSequence(1792));
  });

  describe('with a simulation of llama.cpp', () => {
    const points = [
      { context: 1024, windowBytes: 1100 * 1024 + 7_000_000, stepBytes: 10_000 },
      { context: 8192, windowBytes: 1000 * 8192 + 100 * 1792 + 7_000_000, stepBytes: 30_000 },
    ];
    const simulated: ModelSize = { ...plain, simulated: points };

    it('takes its buffers on the CPU, in proportion between two windows', () => {
      const buffers = (context: number) => needOf(simulated, run(context, 1)).compute - 4 * 10_000 * 512;
      expect(buffers(8192)).toBe(30_000 * 512);
      expect(buffers(4608)).toBe(20_000 * 512);
      expect(buffers(512)).toBe(10_000 * 512);
      expect(buffers(16_384)).toBe(60_000 * 512);
    });

    it('takes the closed form on a card, and for a window that it confirms', () => {
      const card = { ...run(8192, 1), onCard: true };
      expect(needOf(simulated, card)).toEqual(needOf(plain, card));
      expect(needOf(simulated, run(8192, 1)).window).toBe(needOf(plain, run(8192, 1)).window);
    });

    it('takes its window where the closed form does not describe the model', () => {
      const other = points.map((point) => ({ ...point, windowBytes: point.windowBytes * 2 }));
      expect(needOf({ ...plain, simulated: other }, run(8192, 3)).window).toBe(
        3 * (other[1]?.windowBytes ?? 0),
      );
      const unknown = { ...plain, contextMemory: null, simulated: points };
      expect(needOf(unknown, run(1024, 1)).window).toBe(points[0]?.windowBytes);
    });

    it('an empty simulation changes nothing', () => {
      expect(needOf({ ...plain, simulated: [] }, run(8192, 1))).toEqual(needOf(plain, run(8192, 1)));
    });
  });
});

describe('programNeed', () => {
  const parts = { engine: 2 * GIB, weights: 8 * GIB, window: GIB, compute: GIB };
  const need = (
    cardShare: number | undefined,
    cardBytes: number | null,
    measuredBytes: number | null = null,
  ) =>
    programNeed(cardShare === undefined ? parts : { ...parts, cardShare, host: 3 }, {
      cardBytes,
      measuredBytes,
    });

  it('is the sum of the parts', () => {
    expect(need(undefined, 24 * GIB)).toEqual({ ...parts, host: 0, total: 12 * GIB, source: 'estimated' });
  });

  it('or a share of the whole card, whose rest is the cache', () => {
    expect(need(0.5, 24 * GIB)).toMatchObject({ total: 12 * GIB, window: GIB, host: 3 });
    expect(need(0.9, 80 * GIB)).toMatchObject({ total: 72 * GIB, window: 61 * GIB });
    expect(need(0.9, 10 * GIB)).toMatchObject({ total: 9 * GIB, window: 0 });
    expect(need(0.9, null)).toMatchObject({ total: 12 * GIB, window: GIB });
  });

  it('a measurement replaces it', () => {
    expect(need(0.9, 80 * GIB, 7)).toMatchObject({ total: 7, source: 'measured', weights: 8 * GIB });
  });
});
