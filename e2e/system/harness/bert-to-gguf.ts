import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
} from '../../../daemon/models/testing/gguf/writer.ts';
import { readSafetensors, type StoredTensor } from './safetensors.ts';

/** The fields of `config.json` that a GGUF file needs. */
export interface BertConfig {
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly layer_norm_eps: number;
  readonly max_position_embeddings: number;
  readonly num_attention_heads: number;
  readonly num_hidden_layers: number;
  readonly type_vocab_size: number;
}

export interface BertFiles {
  readonly name: string;
  readonly config: BertConfig;
  /** The pieces of `vocab.txt` in their order. */
  readonly vocabulary: readonly string[];
  readonly tensors: ReadonlyMap<string, StoredTensor>;
}

/** `llama_pooling_type` and `llama_token_type` of llama.cpp. */
const POOLING_MEAN = 1;
const TOKEN = { normal: 1, control: 3, unused: 5 } as const;
const FILE_TYPE_MOSTLY_F16 = 1;
/** llama.cpp marks the start of a word, BERT marks the rest of one with `##`. */
const WORD_START = '\u2581';
const CONTROL_PIECES = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];

/** A piece of `vocab.txt` as llama.cpp writes it, and its type. */
export function tokenOf(piece: string): { text: string; type: number } {
  if (CONTROL_PIECES.includes(piece)) return { text: piece, type: TOKEN.control };
  if (/^\[unused\d+\]$/.test(piece)) return { text: piece, type: TOKEN.unused };
  const isRest = piece.startsWith('##') && piece.length > 2;
  return { text: isRest ? piece.slice(2) : WORD_START + piece, type: TOKEN.normal };
}

function keysOf({ name, config, vocabulary }: BertFiles): Record<string, GgufValue> {
  const tokens = vocabulary.map(tokenOf);
  const id = (piece: string): GgufValue => {
    const index = vocabulary.indexOf(piece);
    if (index === -1) throw new Error(`the vocabulary has no ${piece}`);
    return u32(index);
  };
  return {
    'general.architecture': str('bert'),
    'general.name': str(name),
    'general.file_type': u32(FILE_TYPE_MOSTLY_F16),
    'bert.block_count': u32(config.num_hidden_layers),
    'bert.context_length': u32(config.max_position_embeddings),
    'bert.embedding_length': u32(config.hidden_size),
    'bert.feed_forward_length': u32(config.intermediate_size),
    'bert.attention.head_count': u32(config.num_attention_heads),
    'bert.attention.layer_norm_epsilon': f32(config.layer_norm_eps),
    'bert.attention.causal': bool(false),
    'bert.pooling_type': u32(POOLING_MEAN),
    'tokenizer.ggml.model': str('bert'),
    'tokenizer.ggml.pre': str('default'),
    'tokenizer.ggml.tokens': strings(tokens.map(({ text }) => text)),
    'tokenizer.ggml.token_type': integers(tokens.map(({ type }) => type)),
    'tokenizer.ggml.token_type_count': u32(config.type_vocab_size),
    'tokenizer.ggml.bos_token_id': id('[CLS]'),
    'tokenizer.ggml.cls_token_id': id('[CLS]'),
    'tokenizer.ggml.eos_token_id': id('[SEP]'),
    // The key is spelled like this in llama.cpp.
    'tokenizer.ggml.seperator_token_id': id('[SEP]'),
    'tokenizer.ggml.padding_token_id': id('[PAD]'),
    'tokenizer.ggml.unknown_token_id': id('[UNK]'),
    'tokenizer.ggml.mask_token_id': id('[MASK]'),
  };
}

/** Names in a GGUF file and in a Hugging Face checkpoint, first outside of the layers, then inside of each. */
const EMBEDDINGS = {
  'token_embd.weight': 'embeddings.word_embeddings.weight',
  'position_embd.weight': 'embeddings.position_embeddings.weight',
  'token_types.weight': 'embeddings.token_type_embeddings.weight',
  'token_embd_norm.weight': 'embeddings.LayerNorm.weight',
  'token_embd_norm.bias': 'embeddings.LayerNorm.bias',
};
const LAYER = {
  attn_q: 'attention.self.query',
  attn_k: 'attention.self.key',
  attn_v: 'attention.self.value',
  attn_output: 'attention.output.dense',
  attn_output_norm: 'attention.output.LayerNorm',
  ffn_up: 'intermediate.dense',
  ffn_down: 'output.dense',
  layer_output_norm: 'output.LayerNorm',
};
/** Matrices that llama.cpp reads as 32-bit floats. */
const FULL_PRECISION = new Set(['position_embd.weight', 'token_types.weight']);

function namesOf(layers: number): [gguf: string, checkpoint: string][] {
  const names = Object.entries(EMBEDDINGS);
  for (let layer = 0; layer < layers; layer++) {
    for (const [ours, theirs] of Object.entries(LAYER)) {
      for (const kind of ['weight', 'bias']) {
        names.push([`blk.${layer}.${ours}.${kind}`, `encoder.layer.${layer}.${theirs}.${kind}`]);
      }
    }
  }
  return names;
}

/**
 * Converts a BERT sentence encoder with mean pooling to the GGUF form that llama.cpp reads. Weights become 16-bit
 * floats; biases, norms, positions and segment types remain 32-bit floats. Throws when a tensor or piece is missing.
 */
export function bertToGguf(files: BertFiles): GgufModel {
  const tensors = namesOf(files.config.num_hidden_layers).map(([name, stored]): GgufTensor => {
    const tensor = files.tensors.get(stored) ?? files.tensors.get(`bert.${stored}`);
    if (tensor === undefined) throw new Error(`the checkpoint has no ${stored}`);
    const isFull = tensor.shape.length === 1 || FULL_PRECISION.has(name);
    const shape = tensor.shape.toReversed();
    return { name, shape, data: tensor.data, storage: isFull ? 'f32' : 'f16' };
  });
  return { keys: keysOf(files), tensors };
}

/** Reads `config.json`, `vocab.txt` and `model.safetensors` of a checkpoint. */
export function readBert(folder: string, name: string): BertFiles {
  const text = (file: string) => readFileSync(join(folder, file), 'utf8');
  return {
    name,
    config: JSON.parse(text('config.json')) as BertConfig,
    vocabulary: text('vocab.txt').replace(/\n$/, '').split('\n'),
    tensors: readSafetensors(join(folder, 'model.safetensors')),
  };
}
