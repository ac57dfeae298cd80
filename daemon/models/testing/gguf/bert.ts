import { ones, zeros } from './tensor-values.ts';
import { SPECIAL_PIECE, type WordPieces } from './word-pieces.ts';
import { bool, f32, type GgufTensor, type GgufValue, integers, str, strings, u32 } from './writer.ts';

export const POOLING = { mean: 1, rank: 4 } as const;

export interface BertShape {
  name: string;
  size: number;
  context: number;
  layers: number;
  hidden: number;
  pooling: (typeof POOLING)[keyof typeof POOLING];
}

/** Builds the header of a BERT encoder with this vocabulary. */
export function bertKeys(vocabulary: WordPieces, shape: BertShape): Record<string, GgufValue> {
  return {
    'general.architecture': str('bert'),
    'general.name': str(shape.name),
    'general.file_type': u32(1),
    'bert.context_length': u32(shape.context),
    'bert.embedding_length': u32(shape.size),
    'bert.block_count': u32(shape.layers),
    'bert.feed_forward_length': u32(shape.hidden),
    'bert.attention.head_count': u32(1),
    'bert.attention.layer_norm_epsilon': f32(1e-12),
    'bert.attention.causal': bool(false),
    'bert.pooling_type': u32(shape.pooling),
    'tokenizer.ggml.model': str('bert'),
    'tokenizer.ggml.pre': str('default'),
    'tokenizer.ggml.token_type_count': u32(2),
    'tokenizer.ggml.tokens': strings(vocabulary.tokens),
    'tokenizer.ggml.token_type': integers(vocabulary.types),
    'tokenizer.ggml.bos_token_id': u32(SPECIAL_PIECE.cls),
    'tokenizer.ggml.eos_token_id': u32(SPECIAL_PIECE.sep),
    'tokenizer.ggml.cls_token_id': u32(SPECIAL_PIECE.cls),
    'tokenizer.ggml.seperator_token_id': u32(SPECIAL_PIECE.sep),
    'tokenizer.ggml.unknown_token_id': u32(SPECIAL_PIECE.unknown),
    'tokenizer.ggml.padding_token_id': u32(SPECIAL_PIECE.pad),
    'tokenizer.ggml.mask_token_id': u32(SPECIAL_PIECE.mask),
  };
}

/** Builds the embedding tensors: the given piece codes, without positions and segment types. */
export function bertRims(codes: Float32Array, shape: BertShape): GgufTensor[] {
  const { size, context } = shape;
  return [
    { name: 'token_embd.weight', shape: [size, codes.length / size], data: codes, storage: 'f16' },
    { name: 'token_types.weight', shape: [size, 2], data: zeros(2 * size), storage: 'f32' },
    { name: 'position_embd.weight', shape: [size, context], data: zeros(context * size), storage: 'f16' },
    ...bertNorm('token_embd_norm', size),
  ];
}

export interface AttentionWeights {
  q?: Float32Array;
  k?: Float32Array;
  v?: Float32Array;
  o?: Float32Array;
  qBias?: Float32Array;
  vBias?: Float32Array;
}

/** Builds one post-norm layer. Every matrix and bias that is not given is zero. */
export function bertLayer(
  index: number,
  size: number,
  hidden: number,
  weights: AttentionWeights = {},
): GgufTensor[] {
  const linear = (
    name: string,
    from: number,
    to: number,
    matrix?: Float32Array,
    bias?: Float32Array,
  ): GgufTensor[] => [
    {
      name: `blk.${index}.${name}.weight`,
      shape: [from, to],
      data: matrix ?? zeros(from * to),
      storage: 'f16',
    },
    { name: `blk.${index}.${name}.bias`, shape: [to], data: bias ?? zeros(to), storage: 'f32' },
  ];
  return [
    ...linear('attn_q', size, size, weights.q, weights.qBias),
    ...linear('attn_k', size, size, weights.k),
    ...linear('attn_v', size, size, weights.v, weights.vBias),
    ...linear('attn_output', size, size, weights.o),
    ...bertNorm(`blk.${index}.attn_output_norm`, size),
    ...linear('ffn_up', size, hidden),
    ...linear('ffn_down', hidden, size),
    ...bertNorm(`blk.${index}.layer_output_norm`, size),
  ];
}

function bertNorm(name: string, size: number): GgufTensor[] {
  return [
    { name: `${name}.weight`, shape: [size], data: ones(size), storage: 'f32' },
    { name: `${name}.bias`, shape: [size], data: zeros(size), storage: 'f32' },
  ];
}
