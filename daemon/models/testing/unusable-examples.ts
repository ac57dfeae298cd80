import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { piperSettings } from '../onnx/testing/tone-piper.ts';
import { toneTts, toneTtsTokens } from '../onnx/testing/tone-tts.ts';
import { encodeOnnx } from '../onnx/testing/writer.ts';
import type { FormatId } from '../unusable-formats.ts';
import { tinyChat } from './gguf/tiny-chat.ts';
import { encodeGguf, type GgufModel, str } from './gguf/writer.ts';

/** The smallest files of one format that is recognised and cannot be used. */
export interface UnusableExample {
  /** Content by path in the model folder. */
  readonly files: Readonly<Record<string, string | Buffer | Uint8Array>>;
  /** The name under which it is reported. */
  readonly file: string;
  readonly reason: RegExp;
  /** Permissions of its files. Root can read any file, so such an example needs another user. */
  readonly mode?: number;
}

const chat = (): GgufModel => tinyChat({ name: 'example' });
const gguf = (keys: GgufModel['keys']) => encodeGguf({ keys, tensors: [] });
const json = (value: object): string => JSON.stringify(value);

/** A chat model of an architecture that no release of llama.cpp knows. */
export function unknownArchitecture(architecture = 'glm5_next'): Uint8Array {
  const { keys, tensors } = chat();
  const renamed = Object.entries(keys).map(([key, value]) => [
    key.replace(/^llama\./, `${architecture}.`),
    value,
  ]);
  return encodeGguf({
    keys: { ...Object.fromEntries(renamed), 'general.architecture': str(architecture) },
    tensors,
  });
}

const LLAMA = json({ architectures: ['LlamaForCausalLM'], model_type: 'llama' });
const tts = toneTts();
const voice = (metadata: Readonly<Record<string, string>>) =>
  encodeOnnx({ ...tts, metadata: { ...tts.metadata, ...metadata } });

/** One example of each format. */
export const UNUSABLE_EXAMPLES: Readonly<Record<FormatId, UnusableExample>> = {
  ctranslate2: {
    files: { 'ct2/model.bin': 'x', 'ct2/vocabulary.txt': 'x', 'ct2/config.json': '{}' },
    file: 'ct2',
    reason: /CTranslate2/,
  },
  mlx: { files: { 'mlx/weights.npz': 'x', 'mlx/config.json': '{}' }, file: 'mlx', reason: /MLX/ },
  openvino: { files: { 'vino/openvino_model.xml': 'x' }, file: 'vino', reason: /OpenVINO/ },
  'core-ml': { files: { 'apple/Model.mlpackage': 'x' }, file: 'apple', reason: /Core ML/ },
  'pytorch-folder': {
    files: { 'torch/pytorch_model.bin': 'x', 'torch/config.json': '{}' },
    file: 'torch',
    reason: /PyTorch pickle/,
  },
  'onnx-of-transformers': {
    files: { 'xenova/onnx/model.onnx': 'x', 'xenova/config.json': '{}' },
    file: 'xenova',
    reason: /ONNX form of transformers/,
  },
  'tokenizer-only': {
    files: { 'words/tokenizer.json': '{}', 'words/config.json': '{}' },
    file: 'words',
    reason: /tokenizer without weights/,
  },
  'unfinished-download': {
    files: { 'pulled/m-Q4_K_M.gguf.part': 'x' },
    file: 'pulled/m-Q4_K_M.gguf.part',
    reason: /unfinished download/,
  },
  archive: {
    files: { 'packed/vits-piper-en_US-joe.tar.bz2': 'x' },
    file: 'packed/vits-piper-en_US-joe.tar.bz2',
    reason: /packed archive/,
  },
  'whisper-cpp': {
    files: { 'cpp/ggml-base.en.bin': 'x' },
    file: 'cpp/ggml-base.en.bin',
    reason: /whisper\.cpp/,
  },
  pickle: { files: { 'pickles/last.ckpt': 'x' }, file: 'pickles/last.ckpt', reason: /pickle file/ },
  llamafile: { files: { 'runs/m.llamafile': 'x' }, file: 'runs/m.llamafile', reason: /llamafile/ },
  'other-runtime': {
    files: { 'phone/gemma.task': 'x' },
    file: 'phone/gemma.task',
    reason: /a format that no engine here reads/,
  },
  'voice-activity': {
    files: { 'vad/silero_vad.onnx': 'x' },
    file: 'vad/silero_vad.onnx',
    reason: /voice activity/,
  },
  'piper-without-settings': {
    files: { 'piper/en_US-joe-medium.onnx': 'x' },
    file: 'piper/en_US-joe-medium.onnx',
    reason: /Piper without its settings/,
  },
  'unknown-onnx': {
    files: { 'graph/embedder.onnx': 'x' },
    file: 'graph/embedder.onnx',
    reason: /ONNX model of an unknown kind/,
  },
  'loose-safetensors': {
    files: { 'loose/dreamshaper_8.safetensors': 'x' },
    file: 'loose/dreamshaper_8.safetensors',
    reason: /image checkpoint/,
  },
  'exllama-file': { files: { 'exl/m.exl2': 'x' }, file: 'exl/m.exl2', reason: /ExLlama/ },
  'git-lfs-pointer': {
    files: { 'pointer.gguf': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' },
    file: 'pointer.gguf',
    reason: /pointer of Git LFS/,
  },
  'web-page': {
    files: { 'page.gguf': '<!doctype html><title>Sign in</title>' },
    file: 'page.gguf',
    reason: /web page/,
  },
  'packed-content': {
    files: { 'zipped.gguf': 'PK\u0003\u0004 and the rest' },
    file: 'zipped.gguf',
    reason: /ZIP archive/,
  },
  'old-format': {
    files: { 'old.gguf': 'tjgg and the rest' },
    file: 'old.gguf',
    reason: /old GGML format/,
  },
  'no-permission': {
    files: { 'locked.gguf': encodeGguf(chat()) },
    file: 'locked.gguf',
    reason: /\(EACCES\)/,
    mode: 0,
  },
  'espeak-data-missing': {
    files: {
      'silent/model.onnx': voice({ has_espeak: '1' }),
      'silent/tokens.txt': toneTtsTokens(),
      'silent/espeak-ng-data/phontab': 'x',
    },
    file: 'silent',
    reason: /espeak-ng-data is not complete/,
  },
  'split-part-missing': {
    files: { 'split-00001-of-00002.gguf': encodeGguf(chat()) },
    file: 'split-00001-of-00002.gguf',
    reason: /part 2 of 2/,
  },
  'part-missing': {
    files: {
      'sharded/config.json': LLAMA,
      'sharded/model.safetensors.index.json': json({
        weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors' },
      }),
      'sharded/model-1.safetensors': 'x',
    },
    file: 'sharded',
    reason: /1 of its 2 files of weights is missing/,
  },
  'lora-adapter': {
    files: {
      'adapter.gguf': gguf({ 'general.architecture': str('llama'), 'general.type': str('adapter') }),
    },
    file: 'adapter.gguf',
    reason: /LoRA adapter/,
  },
  'not-a-language-model': {
    files: { 'flux.gguf': gguf({ 'general.architecture': str('flux') }) },
    file: 'flux.gguf',
    reason: /not a language model/,
  },
  damaged: {
    files: { 'damaged.gguf': encodeGguf(chat()).subarray(0, 300) },
    file: 'damaged.gguf',
    reason: /header/,
  },
  'foreign-safetensors': {
    files: {
      'mlx-4bit/config.json': json({
        architectures: ['LlamaForCausalLM'],
        quantization: { group_size: 64, bits: 4 },
      }),
      'mlx-4bit/model.safetensors': 'x',
    },
    file: 'mlx-4bit',
    reason: /MLX format/,
  },
  'foreign-voice': {
    files: {
      'zh_CN-pinyin-medium.onnx': voice({}),
      'zh_CN-pinyin-medium.onnx.json': json(piperSettings({ phoneme_type: 'pinyin' })),
    },
    file: 'zh_CN-pinyin-medium.onnx',
    reason: /phoneme_type "pinyin"/,
  },
  'unknown-speech-kind': {
    files: { 'odd/model.onnx': voice({ model_type: 'odd' }), 'odd/tokens.txt': toneTtsTokens() },
    file: 'odd',
    reason: /of the kind "odd"/,
  },
  'unknown-config': {
    files: { 'strange/config.json': json({ architectures: ['Strange'] }), 'strange/model.safetensors': 'x' },
    file: 'strange',
    reason: /names no known architecture/,
  },
  diffusers: {
    files: {
      'pipeline/model_index.json': json({ _class_name: 'StableDiffusionPipeline' }),
      'pipeline/unet/diffusion.safetensors': 'x',
    },
    file: 'pipeline',
    reason: /diffusers format/,
  },
  safetensors: {
    files: { 'llama-hf/config.json': LLAMA, 'llama-hf/model.safetensors': 'x' },
    file: 'llama-hf',
    reason: /safetensors format, which only vLLM serves/,
  },
  'unknown-gguf': {
    files: { 'glm5.gguf': unknownArchitecture() },
    file: 'glm5.gguf',
    reason: /does not know the architecture glm5_next/,
  },
};

/** The examples that this user can make. */
export const possibleExamples = (): [FormatId, UnusableExample][] =>
  Object.entries(UNUSABLE_EXAMPLES).filter(
    (entry): entry is [FormatId, UnusableExample] => entry[1].mode === undefined || process.getuid?.() !== 0,
  );

/** Writes the files of an example below a model folder. */
export function writeUnusable(folder: string, { files, mode }: UnusableExample): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (mode !== undefined) chmodSync(path, mode);
  }
}
