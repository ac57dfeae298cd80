import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { scanFolders } from './scan.ts';
import { isWeightsFolder, readWeightsMetadata, typeOfClasses } from './weights-metadata.ts';

function folder(files: Record<string, string>): string {
  const root = scratch();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}
const config = (value: unknown) => ({ 'config.json': JSON.stringify(value), 'model.safetensors': 'weights' });

/** Weights in one part with an index of the expected parts. */
const splitFiles = (weight_map: unknown): Record<string, string> => ({
  'config.json': JSON.stringify({ architectures: ['LlamaForCausalLM'] }),
  'model-1.safetensors': 'weights',
  'model.safetensors.index.json': JSON.stringify({ metadata: {}, weight_map }),
});

test.each([
  ['LlamaForCausalLM', 'llm'],
  ['Qwen2_5_VLForConditionalGeneration', 'llm'],
  ['XLMRobertaForSequenceClassification', 'rerank'],
  ['BertModel', 'embedding'],
  ['Qwen3Model', 'embedding'],
  ['WhisperForConditionalGeneration', 'stt'],
  ['VitsModel', 'tts'],
  ['Strange', null],
])('%s is %s', (name, type) => expect(typeOfClasses([name])).toBe(type));

test('reads a folder of safetensors', async () => {
  const path = folder({
    ...config({
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      max_position_embeddings: 8192,
      torch_dtype: 'bfloat16',
    }),
    'model-2.safetensors': 'more',
  });
  expect(await readWeightsMetadata(path)).toEqual({
    kind: 'weights',
    type: 'llm',
    architecture: 'llama',
    contextTrain: 8192,
    quantization: 'bfloat16',
    sizeBytes: 11,
  });
  const { files } = await scanFolders([path]);
  expect(files).toMatchObject([{ path, sizeBytes: 11 }]);
});

test('a pipeline of several parts is one image model', async () => {
  const path = folder({
    'model_index.json': '{"_class_name":"StableDiffusionXLPipeline"}',
    'unet/diffusion.safetensors': 'weights',
    'unet/config.json': '{}',
  });
  expect(await readWeightsMetadata(path)).toMatchObject({ type: 'image', sizeBytes: 7 });
  expect((await scanFolders([path])).files).toMatchObject([{ path }]);
});

test.each<[string, Record<string, string>, RegExp]>([
  ['no JSON', { 'config.json': '{', 'model.safetensors': 'x' }, /not valid JSON/],
  ['no class', config({}), /architecture/],
  ['a list', config([]), /architecture/],
  [
    'a missing part',
    splitFiles({ a: 'model-1.safetensors', b: 'model-2.safetensors' }),
    /^1 of its 2 files of weights is missing$/,
  ],
  [
    'an empty part',
    { ...splitFiles({ a: 'model-1.safetensors', b: 'm.safetensors' }), 'm.safetensors': '' },
    /^1 of its 2/,
  ],
  ['an invalid index', { ...splitFiles({}), 'model.safetensors.index.json': '[' }, /list of weights/],
  ['an index without names', splitFiles(null), /list of weights/],
  ['no weights', { 'model_index.json': '{}' }, /missing/],
])('%s is reported in one line', async (_, files, reason) => {
  await expect(readWeightsMetadata(folder(files))).rejects.toThrow(reason);
});

test.each([
  ['all its parts', splitFiles({ a: 'model-1.safetensors', b: 'model-1.safetensors' })],
  [
    'one complete file next to an outdated index',
    { ...splitFiles({ a: 'gone.safetensors' }), 'model.safetensors': 'x' },
  ],
])('a folder with %s is a model', async (_, files) => {
  expect(await readWeightsMetadata(folder(files))).toMatchObject({ type: 'llm' });
});

test('a folder with only a configuration is not a model', () => {
  expect(isWeightsFolder(['config.json', 'README.md'])).toBe(false);
  expect(isWeightsFolder(['model.safetensors'])).toBe(false);
});
