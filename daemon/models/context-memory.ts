import { asNumber, type Metadata } from './gguf-header.ts';

/**
 * What the context of a model takes in memory, for two-byte keys and values (docs/spec/contract.md#admission). The
 * formulas are those of llama.cpp: `llama_kv_cache`, `llama_kv_cache_iswa` and `llama_memory_recurrent`.
 */
export interface ContextMemory {
  /** Bytes per token of the window, over all layers with full attention. */
  readonly fullBytesPerToken: number;
  /** Bytes per cell of the sliding window, over all layers with one; 0 without such layers. */
  readonly slidingBytesPerToken: number;
  /** Tokens of the sliding window; 0 without one. */
  readonly slidingWindow: number;
  /** Bytes of the recurrent state of one sequence; it does not grow with the window. */
  readonly stateBytesPerSequence: number;
  /** Tokens of the vocabulary, for each of which a step has logits; 0 when unknown and for encoders. */
  readonly vocabulary: number;
  /** Bytes of the intermediate results of one token next to its logits. */
  readonly stepBytes: number;
  /** Bytes of the widest layer for one token, which takes the memory of the logits before they are computed. */
  readonly networkBytes: number;
  /** Bytes of the output buffer for one token of a step that returns vectors: llama.cpp reserves logits there as well. */
  readonly outputBytes: number;
  /** Bytes of the tokens and merges in the process of the engine, whatever the device. */
  readonly tokenizerBytes: number;
  /** Bytes per token of the window for the layers that predict several tokens (MTP); they are loaded on request. */
  readonly draftBytesPerToken: number;
}

const VALUE_BYTES = 2;
const STATE_VALUE_BYTES = 4;
const DEFAULT_INTERVAL = 4;
const KDA_DEFAULT_CONV_KERNEL = 4;

/** Hybrids whose full layers are every n-th one; all others have a gated delta net. */
const INTERVAL_HYBRIDS = new Set(['qwen3next', 'qwen35', 'qwen35moe', 'qwen4exp']);
/** Hybrids in which every layer has attention and a recurrent state. */
const PARALLEL_HYBRIDS = new Set(['falcon-h1']);
/** Architectures without attention. */
const RECURRENT_ONLY = /^(mamba2?|rwkv\w*|arwkv7)$/;
/** Encoders keep no keys and values, and have no logits. */
const ENCODERS = /bert|^t5encoder$|^gemma-embedding$/;
/** The only encoders without a gate in their feed-forward network. */
const UNGATED_ENCODERS = new Set(['bert', 'jina-bert-v3', 'nomic-bert-moe']);
/** Bytes of the intermediate results of one token, per value of the embedding; fitted to simulations of llama.cpp. */
const STEP_BYTES_PER_VALUE = 32;
/** A gated network holds gate, input and product at once, next to a few rows of the embedding. */
const GATED_BYTES_PER_VALUE = 3 * 4;
const RECURRENT_BYTES_PER_VALUE = 3 * 4;
/** Each used expert has a row of the embedding as its output. */
const EXPERT_OUTPUT_BYTES = 4;
const ROWS_NEXT_TO_NETWORK = { encoder: 3 * 4, decoder: 4 * 4 } as const;
/** Bytes per value of the queries: alone next to the network, with gate, keys and output in attention. */
const QUERY_BYTES = { network: 4, attention: 4 * 4 } as const;
/** Bytes of the process for each token and merge of a vocabulary, fitted to measured models (docs/adr/0085-*.md). */
const TOKEN_BYTES = 300;
const MERGE_BYTES = 80;
const LOGIT_BYTES = 4;
/** Embedding width of a model whose header does not give it. */
const USUAL_EMBEDDING = 1024;

/** Every n-th layer has full attention; `first`: counted from the first layer instead of the last of a group. */
interface SlidingPattern {
  readonly every: number;
  readonly first?: true;
}

/** The pattern of an architecture whose header contains none. */
const SLIDING_PATTERNS: Readonly<Record<string, SlidingPattern>> = {
  gemma2: { every: 2 },
  gemma3: { every: 6 },
  gemma3n: { every: 5 },
  'gpt-oss': { every: 2 },
  'muse-glimmer': { every: 4 },
  laguna: { every: 4, first: true },
  cohere2: { every: 4 },
  llama4: { every: 4 },
  olmo2: { every: 4 },
  exaone4: { every: 4 },
  'exaone-moe': { every: 4 },
  afmoe: { every: 4 },
  plamo3: { every: 8 },
  smallthinker: { every: 4, first: true },
};
/** Without a known pattern every layer slides, as in phi3. */
const ALL_SLIDING: SlidingPattern = { every: 1 };

type Read = (key: string) => unknown;

/** Returns the value of a layer, which a header gives once or as a list. */
function ofLayer(value: unknown, layer: number): number | null {
  return asNumber(Array.isArray(value) ? value[layer] : value);
}

/** Returns whether a layer has full attention, by the pattern of a model with a sliding window. */
function isFullLayer(pattern: unknown, architecture: string, layer: number): boolean {
  if (Array.isArray(pattern)) return pattern[layer] !== true && pattern[layer] !== 1;
  const known = SLIDING_PATTERNS[architecture] ?? ALL_SLIDING;
  const every = asNumber(pattern) ?? known.every;
  if (every <= 0) return false;
  if (known.first) return layer % every === 0;
  return every > 1 && layer % every === every - 1;
}

function isRecurrentLayer(read: Read, architecture: string, layer: number): boolean {
  if (RECURRENT_ONLY.test(architecture)) return true;
  const listed = read('attention.recurrent_layers');
  if (Array.isArray(listed)) return listed[layer] === true || listed[layer] === 1;
  if (INTERVAL_HYBRIDS.has(architecture)) {
    const interval = asNumber(read('full_attention_interval')) ?? DEFAULT_INTERVAL;
    return interval > 0 && (layer + 1) % interval !== 0;
  }
  const kvHeads = read('attention.head_count_kv');
  if (!Array.isArray(kvHeads) || ofLayer(kvHeads, layer) !== 0) return false;
  // A layer of Nemotron without attention is recurrent only when it has no feed-forward network either.
  return !architecture.startsWith('nemotron_h') || (ofLayer(read('feed_forward_length'), layer) ?? 0) === 0;
}

/** Returns the values of the recurrent state of one layer; 0 without one. */
function stateValues(read: Read): number {
  const number = (key: string) => asNumber(read(key)) ?? 0;
  const embedding = number('embedding_length');
  const headSize = number('wkv.head_size');
  if (headSize > 0) return number('token_shift_count') * embedding + embedding * headSize;
  const shortConv = number('shortconv.l_cache');
  if (shortConv > 0) return embedding * (shortConv - 1);
  const convSteps = Math.max(0, number('ssm.conv_kernel') - 1);
  const kda = number('kda.head_dim');
  if (kda > 0) {
    const heads = ofLayer(read('attention.head_count'), 0) ?? 0;
    return 3 * (convSteps || KDA_DEFAULT_CONV_KERNEL - 1) * heads * kda + kda * kda * heads;
  }
  const inner = number('ssm.inner_size');
  const state = number('ssm.state_size');
  return convSteps * (inner + 2 * number('ssm.group_count') * state) + state * inner;
}

/** Returns the bytes of keys and values of one layer for one token. */
function layerBytes(read: Read, layer: number, isSliding: boolean): number | null {
  const heads = ofLayer(read('attention.head_count'), layer);
  const kvHeads = ofLayer(read('attention.head_count_kv'), layer) ?? heads;
  const embedding = asNumber(read('embedding_length'));
  const plain = embedding !== null && heads !== null && heads > 0 ? embedding / heads : null;
  const length = (name: string) =>
    (isSliding ? asNumber(read(`attention.${name}_swa`)) : null) ??
    asNumber(read(`attention.${name}`)) ??
    plain;
  const key = length('key_length');
  const value = length('value_length');
  if (kvHeads === null || key === null || value === null) return null;
  // Multi-head latent attention stores the compressed keys only.
  const isLatent =
    asNumber(read('attention.key_length_mla')) !== null &&
    asNumber(read('attention.value_length_mla')) !== null;
  return kvHeads * (isLatent ? key : key + value) * VALUE_BYTES;
}

/** Returns the buffers of a decoder of which only the width is known. */
export const decoderBuffers = (embedding: number): Pick<ContextMemory, 'stepBytes' | 'networkBytes'> => ({
  stepBytes: STEP_BYTES_PER_VALUE * embedding,
  networkBytes: 0,
});

/** Returns the largest value of all layers; 0 when the header has none. */
export function largest(value: unknown): number {
  const values = Array.isArray(value) ? value : [value];
  return values.reduce<number>((most, one) => Math.max(most, asNumber(one) ?? 0), 0);
}

/** Returns the bytes of the feed-forward network of one token: of its widest layer, or of the experts that it uses. */
function networkBytes(read: Read, embedding: number): number {
  const used = largest(read('expert_used_count'));
  const inner = largest(read('expert_feed_forward_length')) * used;
  const plain = GATED_BYTES_PER_VALUE * largest(read('feed_forward_length'));
  return Math.max(plain, GATED_BYTES_PER_VALUE * inner + EXPERT_OUTPUT_BYTES * embedding * used);
}

/** Returns the bytes of a recurrent layer for one token: its mixed inputs before, in and after the convolution. */
function recurrentBytes(read: Read): number {
  const number = (key: string) => asNumber(read(key)) ?? 0;
  return (
    RECURRENT_BYTES_PER_VALUE *
    (2 * number('ssm.group_count') * number('ssm.state_size') + number('ssm.inner_size'))
  );
}

/** Returns the values of the queries of one token, over all heads. */
function queryWidth(read: Read): number {
  const heads = largest(read('attention.head_count'));
  const plain = heads > 0 ? (asNumber(read('embedding_length')) ?? 0) / heads : 0;
  return heads * (asNumber(read('attention.key_length')) ?? plain);
}

/** Returns the bytes of the buffers of one token. */
function bufferBytes(read: Read, architecture: string): Pick<ContextMemory, 'stepBytes' | 'networkBytes'> {
  const embedding = asNumber(read('embedding_length')) ?? USUAL_EMBEDDING;
  const plain = STEP_BYTES_PER_VALUE * embedding;
  const network = networkBytes(read, embedding);
  if (!ENCODERS.test(architecture)) {
    const queries = queryWidth(read);
    const widest = Math.max(
      network + QUERY_BYTES.network * queries,
      QUERY_BYTES.attention * queries,
      recurrentBytes(read),
    );
    return { stepBytes: plain, networkBytes: widest + ROWS_NEXT_TO_NETWORK.decoder * embedding };
  }
  const isPlain = UNGATED_ENCODERS.has(architecture);
  const gated = isPlain ? 0 : network + ROWS_NEXT_TO_NETWORK.encoder * embedding;
  return { stepBytes: Math.max(plain, gated), networkBytes: 0 };
}

function vocabularySize(metadata: Metadata, read: Read): number {
  const tokens = metadata['tokenizer.ggml.tokens'];
  return Array.isArray(tokens) ? tokens.length : (asNumber(read('vocab_size')) ?? 0);
}

/** Returns the bytes that depend on the number of tokens and merges of a vocabulary alone. */
export const vocabularyBytes = (
  tokens: number,
  merges = 0,
): Pick<ContextMemory, 'outputBytes' | 'tokenizerBytes'> => ({
  outputBytes: LOGIT_BYTES * tokens,
  tokenizerBytes: TOKEN_BYTES * tokens + MERGE_BYTES * merges,
});

const NO_CACHE = {
  fullBytesPerToken: 0,
  slidingBytesPerToken: 0,
  slidingWindow: 0,
  stateBytesPerSequence: 0,
  draftBytesPerToken: 0,
} as const;

/** Returns whether a model keeps keys, values or states: a decoder. */
export const hasCache = (memory: ContextMemory): boolean =>
  memory.fullBytesPerToken + memory.slidingBytesPerToken + memory.stateBytesPerSequence > 0;

/** More layers are a damaged header; each of them takes time. */
const MAX_LAYERS = 10_000;

/** Returns whether a value of a header can be a number of bytes or tokens: damaged ones are negative or beyond any memory. */
export const isPlausible = (value: number): boolean => value >= 0 && value <= Number.MAX_SAFE_INTEGER;

/**
 * Returns what the context of a model takes, from its header. Null when the header lacks the sizes. MTP layers are not
 * counted, because they are loaded on request only. Layers that share the cache of earlier ones take nothing.
 */
export function contextMemory(metadata: Metadata, architecture: string): ContextMemory | null {
  const memory = computedMemory(metadata, architecture);
  return memory !== null && Object.values(memory).every(isPlausible) ? memory : null;
}

function computedMemory(metadata: Metadata, architecture: string): ContextMemory | null {
  const read: Read = (key) => metadata[`${architecture}.${key}`];
  const blocks = asNumber(read('block_count'));
  if (blocks === null || blocks > MAX_LAYERS) return null;
  const tokens = vocabularySize(metadata, read);
  const merges = metadata['tokenizer.ggml.merges'];
  const buffers = {
    ...bufferBytes(read, architecture),
    ...vocabularyBytes(tokens, Array.isArray(merges) ? merges.length : 0),
  };
  if (ENCODERS.test(architecture)) return { ...NO_CACHE, ...buffers, vocabulary: 0 };
  const layers = Math.max(0, blocks - (asNumber(read('nextn_predict_layers')) ?? 0));
  const withCache = Math.max(0, layers - (asNumber(read('attention.shared_kv_layers')) ?? 0));
  const window = asNumber(read('attention.sliding_window')) ?? 0;
  const pattern = read('attention.sliding_window_pattern');
  const state = stateValues(read) * STATE_VALUE_BYTES;
  let [full, sliding, recurrent] = [0, 0, 0];
  for (let layer = 0; layer < layers; layer++) {
    const isRecurrent = isRecurrentLayer(read, architecture, layer);
    if (isRecurrent || PARALLEL_HYBRIDS.has(architecture)) recurrent += state;
    if (isRecurrent || layer >= withCache) continue;
    const slides = window > 0 && !isFullLayer(pattern, architecture, layer);
    const bytes = layerBytes(read, layer, slides);
    if (bytes === null) return null;
    if (slides) sliding += bytes;
    else full += bytes;
  }
  return {
    fullBytesPerToken: full,
    slidingBytesPerToken: sliding,
    slidingWindow: sliding > 0 ? window : 0,
    stateBytesPerSequence: recurrent,
    draftBytesPerToken: layers < blocks ? (blocks - layers) * (layerBytes(read, layers, false) ?? 0) : 0,
    vocabulary: tokens,
    ...buffers,
  };
}

/** The cells of a cache are a multiple of this (`llama_context`). */
const CELL_GROUP = 256;

const padded = (tokens: number): number => Math.ceil(tokens / CELL_GROUP) * CELL_GROUP;

/** The part of a step that decides how many cells a cache has. */
export interface CacheStep {
  readonly context: number;
  /** Tokens of one step, plus the cells that the engine adds to it. */
  readonly stepCells: number;
  /** Tokens that are predicted ahead; each needs a copy of the recurrent state. */
  readonly draftTokens?: number;
}

/**
 * Returns the bytes of one checkpoint of a sequence: the tokens in the window of its sliding layers and its recurrent
 * state. 0 for a model that needs none.
 */
export const checkpointBytes = (memory: ContextMemory, context: number): number =>
  memory.slidingBytesPerToken * Math.min(context, memory.slidingWindow) + memory.stateBytesPerSequence;

/** Returns the bytes of keys, values and states of one sequence. */
export function cacheBytes(
  memory: ContextMemory,
  { context, stepCells, draftTokens = 0 }: CacheStep,
): number {
  const draft = draftTokens > 0 ? memory.draftBytesPerToken : 0;
  const slidingCells = Math.min(padded(context), padded(memory.slidingWindow + stepCells));
  return (
    (memory.fullBytesPerToken + draft) * padded(context) +
    memory.slidingBytesPerToken * slidingCells +
    memory.stateBytesPerSequence * (1 + draftTokens)
  );
}
