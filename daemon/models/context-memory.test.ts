import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ContextMemory, cacheBytes, contextMemory } from './context-memory.ts';

/** Builds metadata with keys below the architecture. */
const header = (architecture: string, keys: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(keys).map(([key, value]) => [`${architecture}.${key}`, value]));
const repeated = <T>(group: readonly T[], times: number): T[] =>
  Array.from({ length: times }, () => group).flat();
const attention = (kv: unknown, key: number, value = key, heads = 32) => ({
  embedding_length: 4096,
  'attention.head_count': heads,
  'attention.head_count_kv': kv,
  'attention.key_length': key,
  'attention.value_length': value,
});
const ssm = (inner: number, state: number, group: number, conv = 4) => ({
  'ssm.conv_kernel': conv,
  'ssm.inner_size': inner,
  'ssm.state_size': state,
  'ssm.group_count': group,
});
const only = (full: number): Partial<ContextMemory> => ({
  fullBytesPerToken: full,
  slidingBytesPerToken: 0,
  slidingWindow: 0,
  stateBytesPerSequence: 0,
});
const T5F1 = [true, true, true, true, true, false];

/** Headers of models of 2026, with the bytes that llama.cpp allocates. */
const MODELS: readonly (readonly [string, string, Record<string, unknown>, Partial<ContextMemory>])[] = [
  [
    'F1 Qwen3.8 27B: hybrid layers, and an MTP layer that is not loaded',
    'qwen35',
    {
      block_count: 65,
      nextn_predict_layers: 1,
      full_attention_interval: 4,
      ...attention(4, 256),
      ...ssm(6144, 128, 16),
    },
    { ...only(65_536), stateBytesPerSequence: 156_893_184 },
  ],
  [
    'F1b Qwen3.6 35B A3B, without an interval in the header',
    'qwen35moe',
    { block_count: 40, ...attention(2, 256), ...ssm(4096, 128, 16) },
    { ...only(20_480), stateBytesPerSequence: 65_863_680 },
  ],
  [
    'F2 Gemma 4 31B: heads and head size differ between full and sliding layers',
    'gemma4',
    {
      block_count: 60,
      ...attention(repeated([16, 16, 16, 16, 16, 4], 10), 512),
      'attention.key_length_swa': 256,
      'attention.value_length_swa': 256,
      'attention.sliding_window': 1024,
      'attention.sliding_window_pattern': repeated(T5F1, 10),
    },
    {
      fullBytesPerToken: 81_920,
      slidingBytesPerToken: 819_200,
      slidingWindow: 1024,
      stateBytesPerSequence: 0,
    },
  ],
  [
    'F2b Gemma 4 12B',
    'gemma4',
    {
      block_count: 48,
      ...attention(repeated([8, 8, 8, 8, 8, 1], 8), 512),
      'attention.key_length_swa': 256,
      'attention.value_length_swa': 256,
      'attention.sliding_window': 1024,
      'attention.sliding_window_pattern': repeated(T5F1, 8),
    },
    { fullBytesPerToken: 16_384, slidingBytesPerToken: 327_680 },
  ],
  [
    'F2c gpt-oss 20B: no pattern in the header',
    'gpt-oss',
    { block_count: 24, ...attention(8, 64), 'attention.sliding_window': 128 },
    { fullBytesPerToken: 24_576, slidingBytesPerToken: 24_576, slidingWindow: 128 },
  ],
  [
    'F2d Muse Glimmer 30B',
    'muse-glimmer',
    { block_count: 52, ...attention(2, 128), 'attention.sliding_window': 2048 },
    { fullBytesPerToken: 13_312, slidingBytesPerToken: 39_936, slidingWindow: 2048 },
  ],
  [
    'Laguna: groups start with a full layer',
    'laguna',
    { block_count: 40, ...attention(8, 128), 'attention.sliding_window': 512 },
    { fullBytesPerToken: 40_960, slidingBytesPerToken: 122_880 },
  ],
  [
    'F3 Gemma 4 E4B: the last 18 layers share the cache of earlier ones',
    'gemma4',
    {
      block_count: 42,
      ...attention(2, 512),
      'attention.key_length_swa': 256,
      'attention.value_length_swa': 256,
      'attention.shared_kv_layers': 18,
      'attention.sliding_window': 512,
      'attention.sliding_window_pattern': repeated(T5F1, 7),
    },
    { fullBytesPerToken: 16_384, slidingBytesPerToken: 40_960, slidingWindow: 512 },
  ],
  [
    'F4 GLM 4.7 Flash: multi-head latent attention has no values',
    'deepseek2',
    {
      block_count: 47,
      ...attention(1, 576, 512),
      'attention.key_length_mla': 256,
      'attention.value_length_mla': 256,
    },
    only(54_144),
  ],
  [
    'an older file of the same architecture without the keys of MLA',
    'deepseek2',
    { block_count: 47, ...attention(1, 576, 512) },
    only(47 * (576 + 512) * 2),
  ],
  [
    'F5 Nemotron 3 Nano: Mamba layers, attention layers and plain layers',
    'nemotron_h_moe',
    {
      block_count: 52,
      ...attention([...repeated([0], 46), ...repeated([2], 6)], 128),
      feed_forward_length: [...repeated([0], 23), ...repeated([1856], 23), ...repeated([0], 6)],
      ...ssm(4096, 128, 8),
    },
    { ...only(6_144), stateBytesPerSequence: 49_930_240 },
  ],
  [
    'LFM2.5 8B A1B: short convolutions',
    'lfm2moe',
    {
      block_count: 24,
      ...attention([...repeated([0], 18), ...repeated([8], 6)], 64),
      embedding_length: 2048,
      'shortconv.l_cache': 3,
    },
    { ...only(12_288), stateBytesPerSequence: 294_912 },
  ],
  ['Qwen3 8B: plain attention', 'qwen3', { block_count: 36, ...attention(8, 128) }, only(147_456)],
  [
    'head sizes from the embedding',
    'llama',
    { block_count: 2, embedding_length: 4096, 'attention.head_count': 32, 'attention.head_count_kv': 8 },
    only(2 * 8 * 256 * 2),
  ],
  [
    'Falcon H1: attention and state in every layer',
    'falcon-h1',
    { block_count: 2, ...attention(2, 64), ...ssm(1024, 64, 1) },
    { ...only(2 * 2 * 128 * 2), stateBytesPerSequence: 2 * 4 * (3 * (1024 + 128) + 64 * 1024) },
  ],
  [
    'Mamba 2: state only',
    'mamba2',
    { block_count: 2, embedding_length: 2048, ...ssm(1024, 64, 1) },
    { ...only(0), stateBytesPerSequence: 2 * 4 * (3 * (1024 + 128) + 64 * 1024) },
  ],
  [
    'phi3: every layer slides',
    'phi3',
    { block_count: 2, ...attention(8, 96), 'attention.sliding_window': 2047 },
    {
      fullBytesPerToken: 0,
      slidingBytesPerToken: 2 * 8 * 192 * 2,
      slidingWindow: 2047,
    },
  ],
  [
    'F11 the MTP layer of Qwen3.8 27B, when it is loaded',
    'qwen35',
    { block_count: 65, nextn_predict_layers: 1, ...attention(4, 256), ...ssm(6144, 128, 16) },
    { draftBytesPerToken: 4 * 512 * 2 },
  ],
  [
    'the network of a mixture of experts is as wide as the experts that a token uses',
    'qwen3moe',
    {
      block_count: 1,
      ...attention(1, 64),
      feed_forward_length: 6144,
      expert_feed_forward_length: 768,
      expert_used_count: 10,
    },
    { stepBytes: 32 * 4096, networkBytes: 12 * 7680 + 4 * 4096 * 10 + 4 * 32 * 64 + 16 * 4096 },
  ],
  [
    'an encoder, which has no logits',
    'bert',
    { block_count: 12, ...attention(12, 64), embedding_length: 768, vocab_size: 30_522 },
    { ...only(0), vocabulary: 0, stepBytes: 32 * 768 },
  ],
  [
    'an encoder with a gated feed-forward network',
    'nomic-bert',
    { block_count: 12, ...attention(12, 64), embedding_length: 768, feed_forward_length: 3072 },
    { ...only(0), stepBytes: 12 * (3072 + 768) },
  ],
];

/** Bytes of the window of one sequence at 8192 tokens, with steps of 512: the embedded engine, and llama-server. */
const AT_8192: readonly (readonly [string, number, number])[] = [
  ['F1 ', 8192 * 65_536 + 156_893_184, 8192 * 65_536 + 156_893_184],
  ['F1b', 8192 * 20_480 + 65_863_680, 8192 * 20_480 + 65_863_680],
  ['F2 ', 2_139_095_040, 1_929_379_840],
  ['F2b', 721_420_288, 637_534_208],
  ['F2c', 220_200_960, 220_200_960],
  ['F2d', 221_511_680, 211_288_064],
  ['F3 ', 186_646_528, 176_160_768],
  ['F4 ', 443_547_648, 443_547_648],
  ['F5 ', 100_261_888, 100_261_888],
];

describe('contextMemory', () => {
  it.each(MODELS)('%s', (_, architecture, keys, expected) => {
    expect(contextMemory(header(architecture, keys), architecture)).toMatchObject(expected);
  });

  it.each(AT_8192)('%s takes these bytes at 8192 tokens', (id, embedded, server) => {
    const [, architecture, keys] = MODELS.find(([name]) => name.startsWith(id)) ?? [];
    const memory = contextMemory(header(architecture ?? '', keys ?? {}), architecture ?? '');
    if (memory === null) throw new Error(`${id} has no sizes`);
    expect(cacheBytes(memory, { context: 8192, stepCells: 513 })).toBe(embedded);
    expect(cacheBytes(memory, { context: 8192, stepCells: 512 })).toBe(server);
  });

  it('reads the vocabulary from the tokens or from its size', () => {
    const keys = { block_count: 1, ...attention(1, 64), vocab_size: 7 };
    expect(contextMemory(header('llama', keys), 'llama')?.vocabulary).toBe(7);
    const tokens = { ...header('llama', keys), 'tokenizer.ggml.tokens': ['a', 'b'] };
    expect(contextMemory(tokens, 'llama')?.vocabulary).toBe(2);
  });

  it('counts tokens and merges in the process, and outputs also for an encoder, which has no logits', () => {
    const words = {
      'tokenizer.ggml.tokens': ['a', 'b', 'c'],
      'tokenizer.ggml.merges': ['a b', 'b c'],
    };
    const keys = { block_count: 1, ...attention(1, 64) };
    const expected = { outputBytes: 4 * 3, tokenizerBytes: 3 * 300 + 2 * 80 };
    expect(contextMemory({ ...header('llama', keys), ...words }, 'llama')).toMatchObject(expected);
    const encoder = contextMemory({ ...header('bert', keys), ...words }, 'bert');
    expect(encoder).toMatchObject({ ...expected, vocabulary: 0 });
  });

  it.each([
    ['block_count', { ...attention(1, 64) }],
    ['heads', { block_count: 1, embedding_length: 64 }],
  ])('is null for a header without %s', (_, keys) => {
    expect(contextMemory(header('llama', keys), 'llama')).toBeNull();
  });

  it('never returns a negative or fractional count for any legal header', () => {
    const small = fc.integer({ min: 0, max: 64 });
    const legal = fc.record({
      architecture: fc.constantFrom(
        'llama',
        'gemma4',
        'qwen35',
        'nemotron_h',
        'gpt-oss',
        'lfm2',
        'deepseek2',
        'mamba2',
      ),
      block_count: fc.integer({ min: 0, max: 80 }),
      nextn_predict_layers: fc.integer({ min: 0, max: 100 }),
      'attention.shared_kv_layers': fc.integer({ min: 0, max: 100 }),
      embedding_length: fc.constantFrom(64, 2048),
      'attention.head_count': fc.constantFrom(1, 8, 32),
      'attention.head_count_kv': fc.oneof(small, fc.array(small, { maxLength: 90 })),
      'attention.sliding_window': small,
      'attention.sliding_window_pattern': fc.oneof(
        small,
        fc.array(fc.boolean(), { maxLength: 90 }),
        fc.constant(undefined),
      ),
      'ssm.conv_kernel': small,
      'ssm.inner_size': small,
      'ssm.state_size': small,
      'ssm.group_count': small,
    });
    fc.assert(
      fc.property(legal, ({ architecture, ...keys }) => {
        const found = contextMemory(header(architecture, keys), architecture);
        for (const value of Object.values(found ?? {})) {
          expect(Number.isInteger(value)).toBe(true);
          expect(value).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

describe('a damaged header', () => {
  const KEYS = [
    ...['block_count', 'nextn_predict_layers', 'embedding_length', 'feed_forward_length', 'vocab_size'],
    ...['attention.head_count', 'attention.head_count_kv', 'attention.key_length', 'attention.value_length'],
    ...['attention.sliding_window', 'attention.shared_kv_layers', 'attention.kv_lora_rank'],
    ...['ssm.conv_kernel', 'ssm.inner_size', 'ssm.state_size', 'ssm.group_count'],
    ...['expert_used_count', 'expert_feed_forward_length', 'full_attention_interval'],
  ];
  const odd = fc.constantFrom<unknown>(
    ...[-5, -3n, 0, 0.5, 1e9, 2 ** 53, 1e300, Number.NaN, '12', null, [], [-1], {}],
  );
  const value = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 256 }) }, odd);
  const architecture = fc.constantFrom('llama', 'bert', 'gemma3', 'qwen35', 'mamba', 'deepseek2', 'lfm2');

  it('gives no negative or infinite sizes', () => {
    fc.assert(
      fc.property(architecture, fc.array(value, { minLength: 19, maxLength: 19 }), (name, values) => {
        const keys = Object.fromEntries(KEYS.map((key, index) => [key, values[index]]));
        const memory = contextMemory(header(name, keys), name);
        for (const [key, size] of Object.entries(memory ?? {}))
          expect(size >= 0 && size <= Number.MAX_SAFE_INTEGER, `${key} ${size}`).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('with a number of layers that no model has is unknown', () => {
    expect(
      contextMemory(header('llama', { ...attention(8, 128), block_count: 2 ** 40 }), 'llama'),
    ).toBeNull();
  });
});
