import type { PublishedModel } from './model-keys.ts';

/** A tensor of a header without data. Shape: fastest dimension first. */
export interface HeaderTensor {
  readonly name: string;
  readonly shape: readonly number[];
}

/** The sizes of a model for one layer. */
interface Sizes {
  readonly layer: number;
  readonly embedding: number;
  readonly number: (key: string) => number;
}

type Layer = (sizes: Sizes) => readonly HeaderTensor[];

const tensor = (name: string, ...shape: number[]): HeaderTensor => ({ name, shape });

/** Names the tensors of one layer. Names without a dot get the suffix `.weight`. */
function inLayer(layer: number, tensors: readonly (readonly [string, ...number[]])[]): HeaderTensor[] {
  return tensors.map(([name, ...shape]) => {
    const suffix = name.includes('.') || name === 'ssm_a' || name === 'ssm_d' ? '' : '.weight';
    return tensor(`blk.${layer}.${name}${suffix}`, ...shape);
  });
}

/** Queries are twice as wide in models whose attention has an output gate. */
const attention =
  (gated = false): Layer =>
  ({ layer, embedding, number }) => {
    const isSliding = number('attention.sliding_window_pattern') === 1;
    const size = (isSliding ? number('attention.key_length_swa') : 0) || number('attention.key_length');
    const heads = number('attention.head_count') * size;
    const kv = number('attention.head_count_kv') * size;
    return inLayer(layer, [
      ['attn_q', embedding, gated ? heads * 2 : heads],
      ['attn_k', embedding, kv],
      ['attn_v', embedding, kv],
      ['attn_output', heads, embedding],
      ['attn_q_norm', size],
      ['attn_k_norm', size],
    ]);
  };

const norms =
  (...names: readonly string[]): Layer =>
  ({ layer, embedding }) =>
    inLayer(
      layer,
      names.map((name) => [name, embedding] as const),
    );

const feedForward: Layer = ({ layer, embedding, number }) => {
  const inner = number('feed_forward_length');
  return inLayer(layer, [
    ['ffn_gate', embedding, inner],
    ['ffn_up', embedding, inner],
    ['ffn_down', inner, embedding],
  ]);
};

interface ExpertOptions {
  /** The key with the width of an expert. */
  readonly width?: string;
  readonly ungated?: true;
  readonly bias?: true;
}

const experts =
  ({ width = 'expert_feed_forward_length', ungated, bias }: ExpertOptions = {}): Layer =>
  ({ layer, embedding, number }) => {
    const [inner, count] = [number(width), number('expert_count')];
    return inLayer(layer, [
      ['ffn_gate_inp', embedding, count],
      ...(ungated ? [] : [['ffn_gate_exps', embedding, inner, count] as const]),
      ['ffn_up_exps', embedding, inner, count],
      ['ffn_down_exps', inner, embedding, count],
      ...(bias ? [['exp_probs_b.bias', count] as const] : []),
    ]);
  };

const sharedExpert =
  (inner: (sizes: Sizes) => number, gate?: 'gated' | 'ungated'): Layer =>
  (sizes) => {
    const { layer, embedding } = sizes;
    const width = inner(sizes);
    return inLayer(layer, [
      ...(gate === 'gated' ? [['ffn_gate_inp_shexp', embedding] as const] : []),
      ...(gate === 'ungated' ? [] : [['ffn_gate_shexp', embedding, width] as const]),
      ['ffn_up_shexp', embedding, width],
      ['ffn_down_shexp', width, embedding],
    ]);
  };
const sharedWidth = ({ number }: Sizes) => number('expert_shared_feed_forward_length');

/** The gated delta net of the Qwen hybrids. */
const deltaNet: Layer = ({ layer, embedding, number }) => {
  const [state, rank, inner] = [
    number('ssm.state_size'),
    number('ssm.time_step_rank'),
    number('ssm.inner_size'),
  ];
  const mixed = 2 * number('ssm.group_count') * state + inner;
  return inLayer(layer, [
    ['attn_qkv', embedding, mixed],
    ['attn_gate', embedding, inner],
    ['ssm_conv1d', number('ssm.conv_kernel'), mixed],
    ['ssm_dt.bias', rank],
    ['ssm_a', rank],
    ['ssm_beta', embedding, rank],
    ['ssm_alpha', embedding, rank],
    ['ssm_norm', state],
    ['ssm_out', inner, embedding],
  ]);
};

const mamba2: Layer = ({ layer, embedding, number }) => {
  const [state, rank, inner] = [
    number('ssm.state_size'),
    number('ssm.time_step_rank'),
    number('ssm.inner_size'),
  ];
  const groups = number('ssm.group_count');
  const mixed = inner + 2 * groups * state;
  return inLayer(layer, [
    ['ssm_in', embedding, inner + mixed + rank],
    ['ssm_conv1d', number('ssm.conv_kernel'), mixed],
    ['ssm_conv1d.bias', mixed],
    ['ssm_dt.bias', rank],
    ['ssm_a', 1, rank],
    ['ssm_d', 1, rank],
    ['ssm_norm', inner / groups, groups],
    ['ssm_out', inner, embedding],
  ]);
};

const shortConvolution: Layer = ({ layer, embedding, number }) =>
  inLayer(layer, [
    ['shortconv.conv.weight', number('shortconv.l_cache'), embedding],
    ['shortconv.in_proj.weight', embedding, 3 * embedding],
    ['shortconv.out_proj.weight', embedding, embedding],
  ]);

const latentAttention: Layer = ({ layer, embedding, number }) => {
  const [q, kv, rope] = [
    number('attention.q_lora_rank'),
    number('attention.kv_lora_rank'),
    number('rope.dimension_count'),
  ];
  const [heads, key, value] = [
    number('attention.head_count'),
    number('attention.key_length_mla'),
    number('attention.value_length_mla'),
  ];
  return inLayer(layer, [
    ['attn_q_a_norm', q],
    ['attn_kv_a_norm', kv],
    ['attn_q_a', embedding, q],
    ['attn_q_b', q, heads * key],
    ['attn_kv_a_mqa', embedding, kv + rope],
    ['attn_k_b', key - rope, kv, heads],
    ['attn_v_b', kv, value, heads],
    ['attn_output', heads * value, embedding],
  ]);
};

/** The attention of models without norms of queries and keys. */
const plainAttention: Layer = (sizes) => attention()(sizes).filter(({ name }) => !name.includes('_norm'));

/** gpt-oss: biases at the output of attention and in the experts, and attention sinks. */
const gptOss: Layer = (sizes) => {
  const weights = [...plainAttention(sizes), ...experts()(sizes)];
  const biases = weights.map(({ name, shape }) =>
    tensor(name.replace('.weight', '.bias'), ...shape.slice(1)),
  );
  return [
    ...weights,
    ...biases,
    ...inLayer(sizes.layer, [['attn_sinks', sizes.number('attention.head_count')]]),
  ];
};

const all =
  (...parts: readonly Layer[]): Layer =>
  (sizes) =>
    parts.flatMap((part) => part(sizes));
const either =
  (test: (sizes: Sizes) => boolean, yes: Layer, no: Layer): Layer =>
  (sizes) =>
    (test(sizes) ? yes : no)(sizes);

const hasKeysAndValues = ({ number }: Sizes) => number('attention.head_count_kv') > 0;
const isDenseLead = ({ layer, number }: Sizes) => layer < number('leading_dense_block_count');
const isInterval = ({ layer, number }: Sizes) => (layer + 1) % (number('full_attention_interval') || 4) === 0;

const qwenHybrid = (network: Layer): Layer =>
  either(
    ({ layer, number }) => layer >= number('block_count') - number('nextn_predict_layers'),
    all(
      norms('attn_norm', 'post_attention_norm', 'nextn.enorm.weight', 'nextn.hnorm.weight'),
      attention(true),
      network,
      ({ layer, embedding }) => inLayer(layer, [['nextn.eh_proj.weight', 2 * embedding, embedding]]),
    ),
    all(norms('attn_norm', 'post_attention_norm'), either(isInterval, attention(true), deltaNet), network),
  );

const gemma4Experts: Layer = (sizes) => {
  const { layer, embedding, number } = sizes;
  if (number('expert_count') === 0) return [];
  return [
    ...experts()(sizes),
    ...inLayer(layer, [
      ['ffn_gate_inp.scale', embedding],
      ['pre_ffw_norm_2', embedding],
      ['post_ffw_norm_1', embedding],
      ['post_ffw_norm_2', embedding],
    ]),
  ];
};
const gemma4PerLayer: Layer = ({ layer, embedding, number }) => {
  const width = number('embedding_length_per_layer_input');
  if (width === 0) return [];
  return inLayer(layer, [
    ['inp_gate', embedding, width],
    ['proj', width, embedding],
    ['post_norm', embedding],
  ]);
};

const bertLayer = (gated: boolean): Layer =>
  all(
    ({ layer, embedding }) =>
      inLayer(layer, [
        ['attn_q', embedding, embedding],
        ['attn_k', embedding, embedding],
        ['attn_v', embedding, embedding],
        ['attn_output', embedding, embedding],
        ['attn_output_norm.bias', embedding],
        ['layer_output_norm.bias', embedding],
      ]),
    norms('attn_output_norm', 'layer_output_norm'),
    (sizes) => feedForward(sizes).filter(({ name }) => gated || !name.includes('gate')),
  );

const LAYERS: Readonly<Record<string, Layer>> = {
  qwen3: all(norms('attn_norm', 'ffn_norm'), attention(), feedForward),
  qwen3moe: all(norms('attn_norm', 'ffn_norm'), attention(), experts()),
  qwen35: qwenHybrid(feedForward),
  qwen35moe: qwenHybrid(all(experts(), sharedExpert(sharedWidth, 'gated'))),
  gemma4: all(
    norms('attn_norm', 'post_attention_norm', 'ffn_norm', 'post_ffw_norm'),
    attention(),
    feedForward,
    gemma4Experts,
    gemma4PerLayer,
  ),
  'gpt-oss': all(norms('attn_norm', 'post_attention_norm'), gptOss),
  deepseek2: all(
    norms('attn_norm', 'ffn_norm'),
    latentAttention,
    either(
      isDenseLead,
      feedForward,
      all(
        experts(),
        sharedExpert(({ number }) => number('expert_feed_forward_length') * number('expert_shared_count')),
      ),
    ),
  ),
  nemotron_h_moe: all(
    norms('attn_norm'),
    either(
      ({ number }) => number('feed_forward_length') > 0,
      all(experts({ ungated: true, bias: true }), sharedExpert(sharedWidth, 'ungated')),
      either(hasKeysAndValues, plainAttention, mamba2),
    ),
  ),
  granitehybrid: all(
    norms('attn_norm', 'ffn_norm'),
    either(hasKeysAndValues, plainAttention, mamba2),
    experts({ width: 'feed_forward_length' }),
    sharedExpert(sharedWidth),
  ),
  lfm2moe: all(
    norms('attn_norm', 'ffn_norm'),
    either(hasKeysAndValues, attention(), shortConvolution),
    either(isDenseLead, feedForward, experts({ bias: true })),
  ),
  bert: bertLayer(false),
  'nomic-bert': bertLayer(true),
};

/** Tensors outside the layers in addition to the table of tokens. */
function outer(
  { architecture, keys, vocabulary, isUntied }: PublishedModel,
  embedding: number,
): HeaderTensor[] {
  const number = (key: string) => (typeof keys[key] === 'number' ? keys[key] : 0);
  if (architecture.endsWith('bert')) {
    return [
      tensor('token_types.weight', embedding, 1),
      tensor('token_embd_norm.weight', embedding),
      tensor('token_embd_norm.bias', embedding),
      ...(architecture === 'bert'
        ? [tensor('position_embd.weight', embedding, number('context_length'))]
        : []),
    ];
  }
  const perLayer = number('embedding_length_per_layer_input') * number('block_count');
  const norm = architecture === 'lfm2moe' ? 'token_embd_norm.weight' : 'output_norm.weight';
  return [
    tensor(norm, embedding),
    ...(isUntied ? [tensor('output.weight', embedding, vocabulary)] : []),
    ...(architecture === 'gemma4' ? [tensor('rope_freqs.weight', number('attention.key_length') / 2)] : []),
    ...(perLayer === 0
      ? []
      : [
          tensor('per_layer_token_embd.weight', perLayer, vocabulary),
          tensor('per_layer_model_proj.weight', embedding, perLayer),
          tensor('per_layer_proj_norm.weight', number('embedding_length_per_layer_input')),
        ]),
  ];
}

/** Returns the tensors that llama.cpp requires of a model. Throws for an architecture without a row. */
export function modelTensors(model: PublishedModel): HeaderTensor[] {
  const { keys, architecture, vocabulary } = model;
  const layerOf = LAYERS[architecture];
  if (layerOf === undefined) throw new Error(`no tensors for the architecture ${architecture}`);
  const at = (key: string, layer: number): number => {
    const value = keys[key];
    const one = Array.isArray(value) ? value[layer] : value;
    return typeof one === 'number' ? one : 0;
  };
  const embedding = at('embedding_length', 0);
  const layers = Array.from({ length: at('block_count', 0) }, (_, layer) =>
    layerOf({ layer, embedding, number: (key) => at(key, layer) }),
  );
  return [tensor('token_embd.weight', embedding, vocabulary), ...outer(model, embedding), ...layers.flat()];
}
