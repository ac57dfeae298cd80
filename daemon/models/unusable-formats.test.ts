import { describe, expect, test } from 'vitest';
import {
  adviceFor,
  isEmbeddedChat,
  isUnfinished,
  unservedFormat,
  unusableFile,
  unusableFolder,
} from './unusable-formats.ts';

describe('a folder', () => {
  test.each([
    [['model.bin', 'config.json', 'vocabulary.txt', 'tokenizer.json'], /CTranslate2/],
    [['model.bin', 'config.json', 'shared_vocabulary.json'], /CTranslate2/],
    [['weights.npz', 'config.json'], /MLX/],
    [['openvino_model.xml', 'openvino_model.bin'], /OpenVINO/],
    [['Model.mlpackage', 'config.json'], /Core ML/],
    [['pytorch_model.bin', 'config.json', 'tokenizer.json'], /pickle/],
    [['pytorch_model-00001-of-00002.bin', 'config.json'], /pickle/],
    [['onnx', 'config.json', 'tokenizer.json'], /ONNX form of transformers/],
    [['tokenizer.json', 'config.json', 'README.md'], /tokenizer without weights/],
    [['tokenizer.json', 'tokenizer_config.json'], /tokenizer without weights/],
  ])('%j is explained', (names, reason) => {
    const found = unusableFolder(names);
    expect(found?.reason).toMatch(reason);
    expect(found?.advice).toMatch(/\.$/);
  });

  test.each([
    [['pytorch_model.bin', 'model.safetensors', 'config.json']],
    [['tokenizer.json', 'config.json', 'model.gguf']],
    [['notes.txt', 'config.json']],
    [['model.bin']],
    [[]],
  ])('%j is not', (names) => expect(unusableFolder(names)).toBeNull());
});

describe('a file', () => {
  test.each([
    ['m-Q4_K_M.gguf.part', /unfinished/],
    ['m.gguf.crdownload', /unfinished/],
    ['Unconfirmed 12345.crdownload', /unfinished/],
    ['0a1b.incomplete', /unfinished/],
    ['m.gguf.gz', /archive/],
    ['vits-piper-en_US-joe-medium.tar.bz2', /archive/],
    ['ggml-base.en.bin', /whisper.cpp/],
    ['last.ckpt', /pickle/],
    ['consolidated.00.pth', /pickle/],
    ['m.llamafile', /program/],
    ['gemma.task', /no engine/],
    ['silero_vad.onnx', /voice activity/],
    ['embedder.onnx', /unknown kind/],
    ['en_US-joe-medium.onnx', /without its settings/],
    ['dreamshaper_8.safetensors', /image checkpoint/],
  ])('%s is explained', (name, reason) => {
    const found = unusableFile(name, [name]);
    expect(found?.reason).toMatch(reason);
    expect(found?.advice).toMatch(/\.$/);
  });

  test.each(['notes.txt', 'm.gguf', 'README.md', 'backup.tar.gz', 'photo.zip'])('%s is not', (name) =>
    expect(unusableFile(name, [name])).toBeNull(),
  );

  test('of a safetensors folder is a part of its model', () =>
    expect(unusableFile('model.safetensors', ['config.json', 'model.safetensors'])).toBeNull());

  test('an unfinished one is recognised in any folder', () =>
    expect(['a.gguf.part', 'a.gguf', 'a.part'].map(isUnfinished)).toEqual([true, false, false]));
});

test.each([
  ['it is a pointer of Git LFS, not the model', /git lfs pull/],
  ['it is a web page, not a model', /download the model again/],
  ["the file can't be read (EACCES)", /permission/],
  ['tokens.txt is missing', /Add what is missing/],
  ['it is not a GGUF file', /download/],
  ['the model is in MLX format', /GGUF/],
])('"%s" has a next step', (reason, advice) => expect(adviceFor(reason)).toMatch(advice));

test('an unknown reason has none', () => expect(adviceFor('something else')).toBeNull());

describe('a registered model', () => {
  test.each([
    [{ format: 'safetensors', type: 'llm' }, /safetensors/, /vllm/],
    [{ format: 'safetensors', type: 'image' }, /diffusers/, /ComfyUI/],
    [{ format: 'gguf', type: 'llm', architecture: 'glm5_next' }, /architecture glm5_next$/, /llama-server/],
    [
      { format: 'gguf', type: 'embedding', architecture: 'bert', unknownTypes: [142] },
      /tensor type 142$/,
      /llama-server/,
    ],
  ] as const)('%j is explained', (model, reason, advice) => {
    const found = unservedFormat(model);
    expect(found?.reason).toMatch(reason);
    expect(found?.advice).toMatch(advice);
    expect(isEmbeddedChat(model)).toBe(false);
  });

  test('a damaged header makes no long message', () => {
    const model = { format: 'gguf', type: 'llm' } as const;
    const unknownTypes = Array.from({ length: 100_000 }, (_, index) => 1000 + index);
    const byType = unservedFormat({ ...model, architecture: 'llama', unknownTypes })?.reason;
    expect(byType).toMatch(/tensor types 1000, .* 1007 and 99992 more$/);
    expect(byType?.length).toBeLessThan(200);
    const byName = unservedFormat({ ...model, architecture: 'x'.repeat(200_000) })?.reason;
    expect(byName?.length).toBeLessThan(200);
  });

  test.each([
    { format: 'gguf', type: 'llm', architecture: 'llama', unknownTypes: [] },
    { format: 'gguf', type: 'llm', architecture: null },
    { format: 'onnx', type: 'tts', architecture: 'vits' },
    { format: 'program', type: 'tts' },
  ] as const)('%j is not', (model) => {
    expect(unservedFormat(model)).toBeNull();
    expect(isEmbeddedChat(model)).toBe(model.type === 'llm');
  });
});
