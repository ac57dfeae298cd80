import { type ModelKeys, type PublishedModel, repeat } from './model-keys.ts';

const CONTEXT = 262_144;
const RMS = { 'attention.layer_norm_rms_epsilon': 1e-6 };

const size = (layers: number, embedding: number, feedForward: number | readonly number[]): ModelKeys => ({
  context_length: CONTEXT,
  block_count: layers,
  embedding_length: embedding,
  feed_forward_length: feedForward,
  ...RMS,
});
const heads = (count: number, kv: number | readonly number[], length: number): ModelKeys => ({
  'attention.head_count': count,
  'attention.head_count_kv': kv,
  'attention.key_length': length,
  'attention.value_length': length,
});
const stateSpace = (inner: number, rank: number, groups: number): ModelKeys => ({
  'ssm.conv_kernel': 4,
  'ssm.inner_size': inner,
  'ssm.state_size': 128,
  'ssm.time_step_rank': rank,
  'ssm.group_count': groups,
});
const expertsOf = (count: number, used: number, width: number): ModelKeys => ({
  expert_count: count,
  expert_used_count: used,
  expert_feed_forward_length: width,
});
/** Positions of text, height and width in the rotary embedding. */
const SECTIONS = { 'rope.dimension_sections': [11, 11, 10, 0], 'rope.dimension_count': 64 };

/** Five sliding layers, then a full one. */
const FIVE_OF_SIX = [1, 1, 1, 1, 1, 0];
const gemma4 = (pattern: readonly number[], window: number): ModelKeys => ({
  'attention.sliding_window': window,
  'attention.sliding_window_pattern': pattern,
  'attention.key_length_swa': 256,
  'attention.value_length_swa': 256,
  final_logit_softcapping: 30,
});

/** A value per layer: `at` for the listed layers, otherwise `other`. */
const layersAt = (layers: number, listed: readonly number[], at: number, other: number): number[] =>
  Array.from({ length: layers }, (_, layer) => (listed.includes(layer) ? at : other));

/** The layers of Nemotron 3 Nano: Mamba (M), experts (E) and attention (*). */
const NEMOTRON = 'MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME';
const perLayer = (letter: string, value: number) => [...NEMOTRON].map((one) => (one === letter ? value : 0));

const QWEN35_VOCABULARY = 248_320;
const GEMMA4_VOCABULARY = 262_144;

/** Models of 2026, with the sizes that their publishers state. */
export const PUBLISHED_MODELS: readonly PublishedModel[] = [
  {
    name: 'Qwen3.8 27B',
    architecture: 'qwen35',
    vocabulary: QWEN35_VOCABULARY,
    isUntied: true,
    keys: {
      ...size(65, 5120, 17_408),
      ...heads(24, 4, 256),
      ...stateSpace(6144, 48, 16),
      ...SECTIONS,
      nextn_predict_layers: 1,
      full_attention_interval: 4,
    },
  },
  {
    name: 'Qwen3.6 35B A3B',
    architecture: 'qwen35moe',
    vocabulary: QWEN35_VOCABULARY,
    isUntied: true,
    keys: {
      ...size(40, 2048, 0),
      ...heads(16, 2, 256),
      ...stateSpace(4096, 32, 16),
      ...SECTIONS,
      ...expertsOf(256, 8, 512),
      expert_shared_feed_forward_length: 512,
      full_attention_interval: 4,
    },
  },
  {
    name: 'Qwen3.5 9B',
    architecture: 'qwen35',
    vocabulary: QWEN35_VOCABULARY,
    isUntied: true,
    keys: {
      ...size(32, 4096, 12_288),
      ...heads(16, 4, 256),
      ...stateSpace(4096, 32, 16),
      ...SECTIONS,
      full_attention_interval: 4,
    },
  },
  {
    name: 'Gemma 4 31B',
    architecture: 'gemma4',
    vocabulary: GEMMA4_VOCABULARY,
    keys: {
      ...size(60, 5376, 21_504),
      ...heads(32, repeat([16, 16, 16, 16, 16, 4], 10), 512),
      ...gemma4(repeat(FIVE_OF_SIX, 10), 1024),
      embedding_length_per_layer_input: 0,
    },
  },
  {
    name: 'Gemma 4 26B A4B',
    architecture: 'gemma4',
    vocabulary: GEMMA4_VOCABULARY,
    keys: {
      ...size(30, 2816, 2112),
      ...heads(16, repeat([8, 8, 8, 8, 8, 2], 5), 512),
      ...gemma4(repeat(FIVE_OF_SIX, 5), 1024),
      ...expertsOf(128, 8, 704),
      embedding_length_per_layer_input: 0,
    },
  },
  {
    name: 'Gemma 4 12B',
    architecture: 'gemma4',
    vocabulary: GEMMA4_VOCABULARY,
    keys: {
      ...size(48, 3840, 15_360),
      ...heads(16, repeat([8, 8, 8, 8, 8, 1], 8), 512),
      ...gemma4(repeat(FIVE_OF_SIX, 8), 1024),
      embedding_length_per_layer_input: 0,
    },
  },
  {
    name: 'Gemma 4 E4B',
    architecture: 'gemma4',
    vocabulary: GEMMA4_VOCABULARY,
    keys: {
      ...size(42, 2560, 10_240),
      ...heads(8, 2, 512),
      ...gemma4(repeat(FIVE_OF_SIX, 7), 512),
      embedding_length_per_layer_input: 256,
      'attention.shared_kv_layers': 18,
    },
  },
  {
    name: 'Gemma 4 E2B',
    architecture: 'gemma4',
    vocabulary: GEMMA4_VOCABULARY,
    keys: {
      ...size(35, 1536, 6144),
      ...heads(8, 1, 512),
      ...gemma4(repeat([1, 1, 1, 1, 0], 7), 512),
      embedding_length_per_layer_input: 256,
      'attention.shared_kv_layers': 20,
    },
  },
  {
    name: 'gpt-oss 20B',
    architecture: 'gpt-oss',
    vocabulary: 201_088,
    isUntied: true,
    keys: {
      ...size(24, 2880, 2880),
      ...heads(64, 8, 64),
      ...expertsOf(32, 4, 2880),
      'attention.sliding_window': 128,
    },
  },
  {
    name: 'gpt-oss 120B',
    architecture: 'gpt-oss',
    vocabulary: 201_088,
    isUntied: true,
    keys: {
      ...size(36, 2880, 2880),
      ...heads(64, 8, 64),
      ...expertsOf(128, 4, 2880),
      'attention.sliding_window': 128,
    },
  },
  {
    name: 'GLM 4.7 Flash',
    architecture: 'deepseek2',
    vocabulary: 154_880,
    isUntied: true,
    keys: {
      ...size(47, 2048, 10_240),
      ...heads(20, 1, 576),
      ...expertsOf(64, 4, 1536),
      'attention.value_length': 512,
      'attention.q_lora_rank': 768,
      'attention.kv_lora_rank': 512,
      'attention.key_length_mla': 256,
      'attention.value_length_mla': 256,
      'rope.dimension_count': 64,
      expert_shared_count: 1,
      leading_dense_block_count: 1,
    },
  },
  {
    name: 'Nemotron 3 Nano 30B',
    architecture: 'nemotron_h_moe',
    vocabulary: 131_072,
    isUntied: true,
    keys: {
      ...size(NEMOTRON.length, 2688, perLayer('E', 1856)),
      ...heads(32, perLayer('*', 2), 128),
      ...stateSpace(4096, 64, 8),
      ...expertsOf(128, 6, 1856),
      expert_shared_feed_forward_length: 3712,
      'attention.layer_norm_epsilon': 1e-5,
    },
  },
  {
    name: 'Granite 4.0 H tiny',
    architecture: 'granitehybrid',
    vocabulary: 100_352,
    keys: {
      ...size(40, 1536, 512),
      ...heads(12, layersAt(40, [5, 15, 25, 35], 4, 0), 128),
      ...stateSpace(3072, 48, 1),
      expert_count: 64,
      expert_used_count: 6,
      expert_shared_feed_forward_length: 1024,
    },
  },
  {
    name: 'LFM2.5 8B A1B',
    architecture: 'lfm2moe',
    vocabulary: 65_536,
    keys: {
      ...size(24, 2048, 7168),
      ...heads(32, layersAt(24, [2, 6, 10, 14, 18, 21], 8, 0), 64),
      ...expertsOf(32, 4, 1792),
      'shortconv.l_cache': 3,
      expert_gating_func: 2,
      leading_dense_block_count: 2,
    },
  },
  {
    name: 'Qwen3 8B',
    architecture: 'qwen3',
    vocabulary: 151_936,
    isUntied: true,
    keys: { ...size(36, 4096, 12_288), ...heads(32, 8, 128) },
  },
  {
    name: 'Qwen3 Coder 30B A3B',
    architecture: 'qwen3moe',
    vocabulary: 151_936,
    isUntied: true,
    keys: { ...size(48, 2048, 6144), ...heads(32, 4, 128), ...expertsOf(128, 8, 768) },
  },
];

/** Models that return vectors or scores. */
export const PUBLISHED_ENCODERS: readonly PublishedModel[] = [
  {
    name: 'Qwen3 Embedding 0.6B',
    architecture: 'qwen3',
    vocabulary: 151_669,
    keys: { ...size(28, 1024, 3072), ...heads(16, 8, 128), pooling_type: 3 },
  },
  {
    name: 'BGE Reranker v2 M3',
    architecture: 'bert',
    vocabulary: 250_002,
    keys: {
      context_length: 8192,
      block_count: 24,
      embedding_length: 1024,
      feed_forward_length: 4096,
      'attention.head_count': 16,
      'attention.layer_norm_epsilon': 1e-5,
      'attention.causal': false,
      pooling_type: 2,
    },
  },
  {
    name: 'Nomic Embed Text v1.5',
    architecture: 'nomic-bert',
    vocabulary: 30_522,
    keys: {
      context_length: 2048,
      block_count: 12,
      embedding_length: 768,
      feed_forward_length: 3072,
      'attention.head_count': 12,
      'attention.layer_norm_epsilon': 1e-12,
      'attention.causal': false,
      pooling_type: 1,
    },
  },
];
