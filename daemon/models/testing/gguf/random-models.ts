import fc from 'fast-check';
import { type ModelKeys, type PublishedModel, repeat } from './model-keys.ts';

const width = (min: number, max: number) => fc.integer({ min, max }).map((blocks) => blocks * 256);
const vocabulary = fc.integer({ min: 16_000, max: 262_144 });
const CONTEXT = 32_768;

/** Sizes that every architecture has. */
const common = fc.record({
  layers: fc.integer({ min: 1, max: 4 }),
  embedding: width(2, 20),
  inner: width(4, 64),
  kvHeads: fc.constantFrom(1, 2, 4, 8),
  groups: fc.constantFrom(1, 2, 4, 8),
  length: fc.constantFrom(64, 128, 256),
});
type Common = typeof common extends fc.Arbitrary<infer T> ? T : never;

const keysOf = (sizes: Common, layers: number): ModelKeys => ({
  context_length: CONTEXT,
  block_count: layers,
  embedding_length: sizes.embedding,
  feed_forward_length: sizes.inner,
  'attention.head_count': sizes.kvHeads * sizes.groups,
  'attention.head_count_kv': sizes.kvHeads,
  'attention.key_length': sizes.length,
  'attention.value_length': sizes.length,
  'attention.layer_norm_rms_epsilon': 1e-6,
});

const plain = common.map((sizes) => ({ architecture: 'qwen3', keys: keysOf(sizes, sizes.layers * 2) }));

const hybrid = fc
  .record({ sizes: common, heads: fc.constantFrom(4, 8, 16), ratio: fc.constantFrom(1, 2, 3) })
  .map(({ sizes, heads, ratio }) => ({
    architecture: 'qwen35',
    keys: {
      ...keysOf(sizes, sizes.layers * 4),
      'ssm.conv_kernel': 4,
      'ssm.state_size': 128,
      'ssm.group_count': heads,
      'ssm.time_step_rank': heads * ratio,
      'ssm.inner_size': heads * ratio * 128,
      'rope.dimension_sections': [11, 11, 10, 0],
      'rope.dimension_count': 64,
      full_attention_interval: 4,
    },
  }));

const sliding = fc
  .record({
    sizes: common,
    window: fc.integer({ min: 64, max: 4096 }),
    shared: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ sizes, window, shared }) => ({
    architecture: 'gemma4',
    keys: {
      ...keysOf(sizes, (sizes.layers + shared) * 6),
      'attention.shared_kv_layers': shared * 6,
      'attention.sliding_window': window,
      'attention.sliding_window_pattern': repeat([1, 1, 1, 1, 1, 0], sizes.layers + shared),
      'attention.key_length_swa': sizes.length,
      'attention.value_length_swa': sizes.length,
      embedding_length_per_layer_input: 0,
    },
  }));

const experts = fc
  .record({
    sizes: common,
    count: fc.constantFrom(8, 32, 64),
    used: fc.integer({ min: 1, max: 8 }),
    window: fc.integer({ min: 64, max: 1024 }),
  })
  .map(({ sizes, count, used, window }) => ({
    architecture: 'gpt-oss',
    keys: {
      ...keysOf(sizes, sizes.layers * 2),
      'attention.sliding_window': window,
      expert_count: count,
      expert_used_count: used,
      expert_feed_forward_length: sizes.inner / 4,
    },
  }));

const shortConvolutions = common.map((sizes) => ({
  architecture: 'lfm2moe',
  keys: {
    ...keysOf(sizes, sizes.layers * 3),
    'attention.head_count': sizes.embedding / 64,
    'attention.head_count_kv': repeat([0, 0, sizes.embedding / 128], sizes.layers),
    'attention.key_length': 64,
    'attention.value_length': 64,
    expert_count: 8,
    expert_used_count: 2,
    expert_feed_forward_length: sizes.inner / 4,
    'shortconv.l_cache': 3,
    expert_gating_func: 2,
    leading_dense_block_count: 1,
  },
}));

/** Headers that llama.cpp accepts, with sizes like those of real models and fewer layers. */
export const randomModel: fc.Arbitrary<PublishedModel> = fc
  .record({ shape: fc.oneof(plain, hybrid, sliding, experts, shortConvolutions), vocabulary })
  .map(({ shape, vocabulary: tokens }) => ({
    name: shape.architecture,
    vocabulary: tokens,
    isUntied: true,
    ...shape,
  }));
