import { seededRandom } from '../../../lib/seeded-random.ts';
import { BYTE_SPELLING } from './byte-spelling.ts';
import { chatSuccessors, type Successors } from './chat-successors.ts';
import { CHATML_WITH_CALL_MARKER } from './chat-templates.ts';
import { type ChatVocabulary, chatVocabulary, type FixedCall } from './chat-vocabulary.ts';
import { noise, ones, zeros } from './tensor-values.ts';
import {
  bool,
  f32,
  type GgufModel,
  type GgufTensor,
  type GgufValue,
  integers,
  str,
  strings,
  u32,
} from './writer.ts';

export interface TinyChatOptions {
  name?: string;
  /** The answer to every chat. */
  reply?: string;
  /** The call made when tools are offered (with the default template). */
  tool?: FixedCall;
  /** Context window in the header, in tokens. */
  context?: number;
  /** Chat template. Null omits it. */
  template?: string | null;
  /** The separate template for chats with tools. */
  toolTemplate?: string;
  /** True (default): letters and digits continue in sequence. False: everything leads into the reply. */
  runs?: boolean;
  /** Scores of the first, second and third successor. All other tokens have 0. */
  scores?: readonly number[];
  /** The answer in distinct pieces, instead of the words of `reply`. Any text is possible. */
  script?: readonly string[];
  /** Texts of additional control tokens, which have no text when generated. */
  controls?: readonly string[];
  /** True: the file defines tokens for infill (`<|fim_prefix|>` and so on). */
  infill?: boolean;
  /** The values of `general.sampling.*`. */
  sampling?: Readonly<Record<string, number>>;
  /** Layers and minimum width. Higher values give the same answers with real work per token. */
  layers?: number;
  width?: number;
}

const HEAD = 64;
const INFILL = ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'] as const;
const INFILL_KEYS = ['fim_pre', 'fim_suf', 'fim_mid'] as const;
/** One layer costs almost nothing, so that long prompts stay fast. Several do the work of a real model. */
const heads = (size: number, layers: number): number => (layers > 1 ? size / HEAD : 1);
const hidden = (size: number, layers: number): number => (layers > 1 ? 2 * size : HEAD);
export const TINY_REPLY = 'Hello from the tiny model.';

/**
 * Builds a chat model of the llama architecture whose next token is a known function of the last one ({@link
 * chatSuccessors}): one-hot embeddings, layers that add nothing, and output rows with the scores. About 1 MB
 * by default.
 */
export function tinyChat(options: TinyChatOptions = {}): GgufModel {
  const words = chatVocabulary(
    options.reply ?? TINY_REPLY,
    options.tool ?? { name: 'get_time', args: { zone: 'UTC' } },
    { controls: [...(options.controls ?? []), ...(options.infill ? INFILL : [])], script: options.script },
  );
  const size = Math.max(options.width ?? 0, Math.ceil(words.tokens.length / HEAD) * HEAD);
  const layers = options.layers ?? 1;
  const successors = chatSuccessors(words, options.runs ?? true);
  return {
    keys: chatKeys(options, words, size, layers),
    tensors: [
      ...rims(words, successors, size, options.scores ?? [12, 9, 8]),
      ...Array.from({ length: layers }, (_, i) => chatLayer(i, size, layers)).flat(),
    ],
  };
}

function chatKeys(
  options: TinyChatOptions,
  words: ChatVocabulary,
  size: number,
  layers: number,
): Record<string, GgufValue> {
  const template = options.template === undefined ? CHATML_WITH_CALL_MARKER : options.template;
  return {
    'general.architecture': str('llama'),
    'general.name': str(options.name ?? 'tiny-chat'),
    'general.file_type': u32(1),
    'llama.context_length': u32(options.context ?? 4096),
    'llama.embedding_length': u32(size),
    'llama.block_count': u32(layers),
    'llama.feed_forward_length': u32(hidden(size, layers)),
    'llama.attention.head_count': u32(heads(size, layers)),
    'llama.attention.key_length': u32(HEAD),
    'llama.attention.value_length': u32(HEAD),
    'llama.attention.head_count_kv': u32(1),
    'llama.attention.layer_norm_rms_epsilon': f32(1e-6),
    'llama.rope.dimension_count': u32(HEAD),
    'llama.vocab_size': u32(words.tokens.length),
    'tokenizer.ggml.model': str('gpt2'),
    'tokenizer.ggml.pre': str('gpt-2'),
    'tokenizer.ggml.tokens': strings(words.tokens),
    'tokenizer.ggml.token_type': integers(words.types),
    'tokenizer.ggml.merges': strings([`${BYTE_SPELLING[0]} ${BYTE_SPELLING[0]}`]),
    'tokenizer.ggml.bos_token_id': u32(words.bos),
    'tokenizer.ggml.eos_token_id': u32(words.end),
    'tokenizer.ggml.eot_token_id': u32(words.end),
    'tokenizer.ggml.add_bos_token': bool(false),
    ...Object.fromEntries(
      Object.entries(options.sampling ?? {}).map(([key, value]) => [
        `general.sampling.${key}`,
        /_k$|_n$/.test(key) ? u32(value) : f32(value),
      ]),
    ),
    ...infillKeys(words),
    ...(template === null ? {} : { 'tokenizer.chat_template': str(template) }),
    ...(options.toolTemplate === undefined
      ? {}
      : { 'tokenizer.chat_template.tool_use': str(options.toolTemplate) }),
  };
}

function infillKeys(words: ChatVocabulary): Record<string, GgufValue> {
  const found = INFILL.map((text, i) => [INFILL_KEYS[i], words.control.get(text)] as const);
  return Object.fromEntries(
    found.flatMap(([key, token]) =>
      token === undefined ? [] : [[`tokenizer.ggml.${key}_token_id`, u32(token)]],
    ),
  );
}

/**
 * Builds embedding and output. RMS norm scales the hot entry to sqrt(size), so rows are divided by it to give
 * exact scores.
 */
function rims(
  words: ChatVocabulary,
  successors: Successors,
  size: number,
  scores: readonly number[],
): GgufTensor[] {
  const count = words.tokens.length;
  const embedding = zeros(count * size);
  const output = zeros(count * size);
  const norm = Math.sqrt(size);
  for (let token = 0; token < count; token++) {
    embedding[token * size + token] = 1;
    (successors.get(token) ?? [words.end]).forEach((next, rank) => {
      output[next * size + token] = (scores[Math.min(rank, scores.length - 1)] ?? 0) / norm;
    });
  }
  return [
    { name: 'token_embd.weight', shape: [size, count], data: embedding, storage: 'f16' },
    { name: 'output_norm.weight', shape: [size], data: ones(size), storage: 'f32' },
    { name: 'output.weight', shape: [size, count], data: output, storage: 'f16' },
  ];
}

/** Builds a layer that computes but adds nothing: its two output matrices are zero. */
function chatLayer(index: number, size: number, layers: number): GgufTensor[] {
  const query = heads(size, layers) * HEAD;
  const inner = hidden(size, layers);
  const random = seededRandom(7 + index);
  const matrix = (name: string, from: number, to: number, data: Float32Array): GgufTensor => ({
    name: `blk.${index}.${name}.weight`,
    shape: [from, to],
    data,
    storage: 'f16',
  });
  const noisy = (name: string, from: number, to: number) =>
    matrix(name, from, to, noise(random, from * to, 0.1));
  const norm = (name: string): GgufTensor => ({
    name: `blk.${index}.${name}.weight`,
    shape: [size],
    data: ones(size),
    storage: 'f32',
  });
  return [
    norm('attn_norm'),
    noisy('attn_q', size, query),
    noisy('attn_k', size, HEAD),
    noisy('attn_v', size, HEAD),
    matrix('attn_output', query, size, zeros(query * size)),
    norm('ffn_norm'),
    noisy('ffn_gate', size, inner),
    noisy('ffn_up', size, inner),
    matrix('ffn_down', inner, size, zeros(inner * size)),
  ];
}
