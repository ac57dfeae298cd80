import { expect, it } from 'vitest';
import { bertToGguf, tokenOf } from './bert-to-gguf.ts';
import { parseSafetensors } from './safetensors.ts';

/** The bytes of a safetensors file with these 32-bit float tensors. */
function safetensors(tensors: Record<string, { shape: number[]; data: number[] }>, more = {}): Buffer {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' }, ...more };
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + 4 * data.length] };
    offset += 4 * data.length;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const numbers = Float32Array.from(Object.values(tensors).flatMap(({ data }) => data));
  return Buffer.concat([length, text, Buffer.from(numbers.buffer)]);
}

it('reads float tensors and ignores others', () => {
  const ids = { dtype: 'I64', shape: [1], data_offsets: [0, 8] };
  const file = safetensors(
    { a: { shape: [2, 1], data: [1.5, -2] }, b: { shape: [1], data: [0.25] } },
    { position_ids: ids },
  );
  expect(parseSafetensors(file)).toEqual(
    new Map([
      ['a', { shape: [2, 1], data: Float32Array.of(1.5, -2) }],
      ['b', { shape: [1], data: Float32Array.of(0.25) }],
    ]),
  );
});

it('a tensor beyond the end of the file is refused', () => {
  const file = safetensors({ a: { shape: [2], data: [1, 2] } });
  expect(() => parseSafetensors(file.subarray(0, file.length - 1))).toThrow('a lies outside of the file');
});

it.each([
  ['[CLS]', '[CLS]', 3],
  ['[unused17]', '[unused17]', 5],
  ['word', '\u2581word', 1],
  ['##ing', 'ing', 1],
  ['##', '\u2581##', 1],
  ['[', '\u2581[', 1],
])('piece %s becomes %s', (piece, text, type) => {
  expect(tokenOf(piece)).toEqual({ text, type });
});

const CONFIG = {
  hidden_size: 2,
  intermediate_size: 4,
  layer_norm_eps: 1e-12,
  max_position_embeddings: 8,
  num_attention_heads: 1,
  num_hidden_layers: 0,
  type_vocab_size: 2,
};
const VOCABULARY = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'a'];
const tensor = (...shape: number[]) => ({
  shape,
  data: new Float32Array(shape.reduce((product, size) => product * size)),
});
const EMBEDDINGS = new Map([
  ['bert.embeddings.word_embeddings.weight', tensor(6, 2)],
  ['embeddings.position_embeddings.weight', tensor(8, 2)],
  ['embeddings.token_type_embeddings.weight', tensor(2, 2)],
  ['embeddings.LayerNorm.weight', tensor(2)],
  ['embeddings.LayerNorm.bias', tensor(2)],
]);

it('shapes are reversed, and only large matrices lose precision', () => {
  const model = bertToGguf({ name: 'm', config: CONFIG, vocabulary: VOCABULARY, tensors: EMBEDDINGS });
  expect(model.tensors.map(({ name, shape, storage }) => [name, shape, storage])).toEqual([
    ['token_embd.weight', [2, 6], 'f16'],
    ['position_embd.weight', [2, 8], 'f32'],
    ['token_types.weight', [2, 2], 'f32'],
    ['token_embd_norm.weight', [2], 'f32'],
    ['token_embd_norm.bias', [2], 'f32'],
  ]);
  expect(model.keys['tokenizer.ggml.seperator_token_id']).toEqual({ type: 'u32', value: 3 });
});

it('a missing tensor or piece is named', () => {
  const files = { name: 'm', config: CONFIG, vocabulary: VOCABULARY, tensors: EMBEDDINGS };
  expect(() => bertToGguf({ ...files, config: { ...CONFIG, num_hidden_layers: 1 } })).toThrow(
    'the checkpoint has no encoder.layer.0.attention.self.query.weight',
  );
  expect(() => bertToGguf({ ...files, vocabulary: VOCABULARY.slice(1) })).toThrow(
    'the vocabulary has no [PAD]',
  );
});
