import { statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { readHeader } from './gguf-header.ts';
import { modelType, readGgufMetadata } from './gguf-metadata.ts';
import { writeModelHeader } from './testing/gguf/model-header.ts';
import { PUBLISHED_MODELS } from './testing/gguf/published-models.ts';
import { tinyChat } from './testing/gguf/tiny-chat.ts';
import { tinyEmbed } from './testing/gguf/tiny-embed.ts';
import { tinyRerank } from './testing/gguf/tiny-rerank.ts';
import { encodeGguf, type GgufModel, integers, str, u32 } from './testing/gguf/writer.ts';

let folder: string;
beforeEach(() => {
  folder = scratch();
});

function write(name: string, model: GgufModel): string {
  const path = join(folder, name);
  writeFileSync(path, encodeGguf(model));
  return path;
}
const withKeys = (keys: GgufModel['keys']): GgufModel => {
  const base = tinyChat();
  return { ...base, keys: { ...base.keys, ...keys } };
};

test('a chat model', async () => {
  const keys = {
    'general.name': str('Tiny'),
    'llama.context_length': u32(2048),
    'llama.block_count': u32(3),
  };
  const path = write('chat.gguf', withKeys(keys));
  const facts = await readGgufMetadata(path);
  expect(facts).toMatchObject({
    architecture: 'llama',
    name: 'Tiny',
    type: 'llm',
    contextTrain: 2048,
    quantization: 'F16',
    chatTemplate: true,
    capabilities: { tools: true, vision: false, reasoning: false },
    enableThinking: null,
    sizeBytes: statSync(path).size,
    files: [path],
    layers: 3,
    headDim: 64,
  });
  expect(facts.parameters).toBeGreaterThan(100_000);
  expect(facts.kvBytesPerToken).toBe(2 * 2 * 3 * (facts.kvHeads ?? 0) * 64);
});

test('an embedding and a reranking model', async () => {
  expect((await readGgufMetadata(write('embed.gguf', tinyEmbed()))).type).toBe('embedding');
  expect((await readGgufMetadata(write('rerank.gguf', tinyRerank()))).type).toBe('rerank');
});

test.each([
  ['llama', null, 'llm'],
  ['llama', 0, 'llm'],
  ['qwen3', 4, 'rerank'],
  ['qwen3', 3, 'embedding'],
  ['nomic-bert', null, 'embedding'],
  ['gemma-embedding', null, 'embedding'],
  ['bert', 4, 'rerank'],
] as const)('%s with pooling %s is %s', (architecture, pooling, type) => {
  expect(modelType(architecture, pooling)).toBe(type);
});

test('averages heads that differ between layers', async () => {
  const keys = {
    'llama.block_count': u32(4),
    'llama.attention.head_count_kv': integers([2, 0, 2, 0]),
    'llama.attention.key_length': u32(192),
    'llama.attention.value_length': u32(128),
  };
  const facts = await readGgufMetadata(write('hybrid.gguf', withKeys(keys)));
  expect(facts.kvBytesPerToken).toBe(2 * (2 + 2) * (192 + 128));
  expect(facts).toMatchObject({ layers: 4, kvHeads: 1, headDim: 160 });
});

test('without a file type, uses the storage of most tensors', async () => {
  const { keys, tensors } = tinyChat();
  const rest = Object.fromEntries(Object.entries(keys).filter(([key]) => key !== 'general.file_type'));
  expect((await readGgufMetadata(write('untyped.gguf', { keys: rest, tensors }))).quantization).toBe('F16');
});

/** Builds a later part of a split model: tensors with almost no metadata. */
const laterPart = (): GgufModel => {
  const { tensors } = tinyChat();
  return { keys: { 'split.no': u32(1), 'split.count': u32(2) }, tensors: tensors.slice(0, 1) };
};

test('parts of a split model are one, and a missing part is named', async () => {
  const [first, second] = ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'].map((name) =>
    join(folder, name),
  );
  write('m-00001-of-00002.gguf', tinyChat());
  await expect(readGgufMetadata(first as string)).rejects.toThrow('part 2 of 2: the file does not exist');
  write('m-00002-of-00002.gguf', laterPart());
  const facts = await readGgufMetadata(second as string);
  expect(facts.files).toEqual([first, second]);
  expect(facts.sizeBytes).toBe(statSync(first as string).size + statSync(second as string).size);
  expect(facts.parameters).toBeGreaterThan(100_000);
});

test('names the number of a damaged or truncated part', async () => {
  write('m-00001-of-00002.gguf', tinyChat());
  const second = write('m-00002-of-00002.gguf', laterPart());
  truncateSync(second, statSync(second).size - 40);
  await expect(readGgufMetadata(second)).rejects.toThrow(/^part 2 of 2: the file is shorter/);
  writeFileSync(second, 'garbage');
  await expect(readGgufMetadata(second)).rejects.toThrow('part 2 of 2: it is not a GGUF file');
});

test.each([
  ['of a projector', { 'general.architecture': str('clip') }, /projector/],
  ['of an adapter', { 'general.type': str('adapter') }, /adapter/],
  [
    'of something else',
    { 'general.architecture': str('flux') },
    /not a language model \(architecture flux\)/,
  ],
] as const)('a file %s is refused with the reason', async (_, keys, reason) => {
  await expect(readGgufMetadata(write('other.gguf', withKeys(keys)))).rejects.toThrow(reason);
});

test('refuses a file truncated at any position', async () => {
  const path = write('whole.gguf', tinyChat());
  const size = statSync(path).size;
  for (const left of [size - 40, Math.floor(size / 2), 9000, 5000, 300, 30]) {
    truncateSync(path, left);
    await expect(readGgufMetadata(path), `${left} bytes`).rejects.toThrow(/cut off|shorter|damaged/);
  }
});

test('refuses other and missing files without their path', async () => {
  const text = join(folder, 'text.gguf');
  writeFileSync(text, 'this is only text, and long enough to hold its own header');
  await expect(readGgufMetadata(text)).rejects.toThrow('it is not a GGUF file');
  writeFileSync(text, '');
  await expect(readGgufMetadata(text)).rejects.toThrow('it is not a GGUF file');
  await expect(readGgufMetadata(folder)).rejects.toThrow(
    'it is a folder; give the path of a .gguf file in it',
  );
  const missing = await readGgufMetadata(join(folder, 'none.gguf')).catch((error: Error) => error.message);
  expect(missing).toBe('the file does not exist');
});

test('reports an unreadable header without its path', async () => {
  const path = join(folder, 'away.gguf');
  symlinkSync(path, path);
  await expect(readHeader(path, 100)).rejects.toThrow(/^the file can't be read \(ELOOP\)$/);
});

test.each([
  ['Qwen3.6 35B A3B', 0.92, 40, 0.1],
  ['gpt-oss 20B', 0.85, 24, 0.2],
  ['Qwen3.8 27B', null, null, 1],
] as const)(
  'F9: %s has experts and tables that a card does not hold',
  async (name, share, layers, active) => {
    const model = PUBLISHED_MODELS.find((one) => one.name === name);
    if (model === undefined) throw new Error(`no model ${name}`);
    const path = join(folder, 'published.gguf');
    await writeModelHeader(path, model);
    const facts = await readGgufMetadata(path);
    expect(facts.unknownTypes).toEqual([]);
    expect(facts.experts?.layers ?? null).toBe(layers);
    if (share !== null) expect((facts.experts?.bytes ?? 0) / facts.sizeBytes).toBeGreaterThan(share);
    expect(facts.activeBytes / facts.sizeBytes).toBeCloseTo(active, 1);
    expect(facts.cardBytes).toBeLessThan(facts.sizeBytes);
  },
);

test('F9: the table of Gemma 4 E4B per layer stays on the host', async () => {
  const model = PUBLISHED_MODELS.find(({ name }) => name === 'Gemma 4 E4B');
  if (model === undefined) throw new Error('no model');
  const path = join(folder, 'e4b.gguf');
  await writeModelHeader(path, model);
  const facts = await readGgufMetadata(path);
  const table = (256 * 42 * model.vocabulary * 18) / 32;
  expect(facts.sizeBytes - facts.cardBytes).toBe(table);
});
