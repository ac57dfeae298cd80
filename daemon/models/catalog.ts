import type { PurposeName } from '../contract/catalog.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import { SDXL_LICENCE, SDXL_TURBO_LICENCE } from './licences.ts';

/** A well-known model with the numbers that its memory is estimated from. */
export interface KnownModel {
  readonly repo: string;
  /** File or quantisation after the colon. Null: the folder. */
  readonly file: string | null;
  readonly name: string;
  readonly purpose: PurposeName;
  readonly note: string;
  readonly licence: string;
  /** Megabytes (10^6 bytes), rounded. */
  readonly sizeMb: number;
  /** Trained context window in tokens. Null when it has none. */
  readonly context: number | null;
  /** Layers, key/value heads, width of a head, width of the model. Null when the window needs no memory. */
  readonly shape: readonly [layers: number, kvHeads: number, headDim: number, embedding: number] | null;
}

/** The date of this list. Sizes and shapes are approximate; there are no checksums. */
export const CATALOG_DATE = '2025-09-01';

const row = (
  purpose: PurposeName,
  model: string,
  name: string,
  details: Pick<KnownModel, 'sizeMb' | 'licence' | 'context' | 'shape' | 'note'>,
): KnownModel => {
  const [repo = '', file = null] = model.split(':') as [string, string?];
  return { purpose, repo, file: file ?? null, name, ...details };
};
const APACHE = 'apache-2.0';

/** A few good models per purpose, small ones first. */
export const CATALOG: readonly KnownModel[] = [
  row('small', 'Qwen/Qwen3-0.6B-GGUF:Q8_0', 'Qwen3 0.6B', {
    note: 'Titles, tags and other small tasks, even without a GPU.',
    licence: APACHE,
    sizeMb: 639,
    context: 40_960,
    shape: [28, 8, 128, 1024],
  }),
  row('small', 'bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M', 'Llama 3.2 3B', {
    note: 'Short answers and summaries in 2 GB.',
    licence: 'llama3.2',
    sizeMb: 2_020,
    context: 131_072,
    shape: [28, 8, 128, 3072],
  }),
  row('chat', 'Qwen/Qwen3-4B-GGUF:Q4_K_M', 'Qwen3 4B', {
    note: 'Optional reasoning, calls tools; good on a laptop.',
    licence: APACHE,
    sizeMb: 2_500,
    context: 40_960,
    shape: [36, 8, 128, 2560],
  }),
  row('chat', 'ggml-org/gemma-3-4b-it-GGUF:Q4_K_M', 'Gemma 3 4B', {
    note: 'Many languages; vision with its projector.',
    licence: 'gemma',
    sizeMb: 2_490,
    context: 131_072,
    shape: [34, 4, 256, 2560],
  }),
  row('chat', 'bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M', 'Llama 3.1 8B', {
    note: 'Long context, widely supported.',
    licence: 'llama3.1',
    sizeMb: 4_920,
    context: 131_072,
    shape: [32, 8, 128, 4096],
  }),
  row('chat', 'Qwen/Qwen3-8B-GGUF:Q4_K_M', 'Qwen3 8B', {
    note: 'The usual choice for an 8 GB GPU.',
    licence: APACHE,
    sizeMb: 5_030,
    context: 40_960,
    shape: [36, 8, 128, 4096],
  }),
  row('chat', 'Qwen/Qwen3-14B-GGUF:Q4_K_M', 'Qwen3 14B', {
    note: 'For GPUs with 12 to 16 GB.',
    licence: APACHE,
    sizeMb: 9_000,
    context: 40_960,
    shape: [40, 8, 128, 5120],
  }),
  row('chat', 'ggml-org/gpt-oss-20b-GGUF:mxfp4', 'gpt-oss 20B', {
    note: 'Fast for its size: only part of the model is active per token.',
    licence: APACHE,
    sizeMb: 12_100,
    context: 131_072,
    shape: [24, 8, 64, 2880],
  }),
  row('chat', 'Qwen/Qwen3-30B-A3B-GGUF:Q4_K_M', 'Qwen3 30B A3B', {
    note: 'Three billion active parameters: fast even on CPU.',
    licence: APACHE,
    sizeMb: 18_600,
    context: 40_960,
    shape: [48, 4, 128, 2048],
  }),
  row('chat', 'Qwen/Qwen3-32B-GGUF:Q4_K_M', 'Qwen3 32B', {
    note: 'The best of its family for one 24 GB GPU.',
    licence: APACHE,
    sizeMb: 19_800,
    context: 40_960,
    shape: [64, 8, 128, 5120],
  }),
  row('coding', 'Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q8_0', 'Qwen2.5 Coder 1.5B', {
    note: 'Code completion while you type.',
    licence: APACHE,
    sizeMb: 1_890,
    context: 32_768,
    shape: [28, 2, 128, 1536],
  }),
  row('coding', 'Qwen/Qwen2.5-Coder-7B-Instruct-GGUF:Q4_K_M', 'Qwen2.5 Coder 7B', {
    note: 'Edits and explanations on a small GPU.',
    licence: APACHE,
    sizeMb: 4_680,
    context: 32_768,
    shape: [28, 4, 128, 3584],
  }),
  row('coding', 'Qwen/Qwen2.5-Coder-32B-Instruct-GGUF:Q4_K_M', 'Qwen2.5 Coder 32B', {
    note: 'For a 24 GB GPU or unified memory.',
    licence: APACHE,
    sizeMb: 19_900,
    context: 32_768,
    shape: [64, 8, 128, 5120],
  }),
  row('embedding', 'nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0', 'Nomic Embed Text v1.5', {
    note: 'English texts; tiny and fast.',
    licence: APACHE,
    sizeMb: 146,
    context: 2_048,
    shape: [12, 0, 64, 768],
  }),
  row('embedding', 'Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0', 'Qwen3 Embedding 0.6B', {
    note: 'Many languages and long texts.',
    licence: APACHE,
    sizeMb: 639,
    context: 32_768,
    shape: [28, 8, 128, 1024],
  }),
  row('rerank', 'gpustack/bge-reranker-v2-m3-GGUF:Q8_0', 'BGE Reranker v2 M3', {
    note: 'Sorts search results, in many languages.',
    licence: APACHE,
    sizeMb: 636,
    context: 8_192,
    shape: [24, 0, 64, 1024],
  }),
  row('hearing', 'csukuangfj/sherpa-onnx-whisper-base', 'Whisper base', {
    note: 'Many languages, on the CPU.',
    licence: 'mit',
    sizeMb: 160,
    context: null,
    shape: null,
  }),
  row('hearing', 'csukuangfj/sherpa-onnx-nemo-parakeet-tdt-0.6b-v2-int8', 'Parakeet TDT 0.6B v2', {
    note: 'English, very accurate.',
    licence: 'cc-by-4.0',
    sizeMb: 660,
    context: null,
    shape: null,
  }),
  row('speaking', 'csukuangfj/vits-piper-en_US-amy-low', 'Piper Amy', {
    note: 'English; fast on any CPU.',
    licence: 'mit',
    sizeMb: 80,
    context: null,
    shape: null,
  }),
  row('speaking', 'csukuangfj/kokoro-en-v0_19', 'Kokoro 82M', {
    note: 'English, several natural voices.',
    licence: APACHE,
    sizeMb: 350,
    context: null,
    shape: null,
  }),
  row('images', 'stabilityai/sdxl-turbo:sd_xl_turbo_1.0_fp16.safetensors', 'SDXL Turbo', {
    note: 'Images in one to four steps; for ComfyUI or an sd-server slot.',
    licence: SDXL_TURBO_LICENCE,
    sizeMb: 6_940,
    context: null,
    shape: null,
  }),
  row('images', 'stabilityai/stable-diffusion-xl-base-1.0:sd_xl_base_1.0.safetensors', 'SDXL 1.0', {
    note: '1-megapixel images; for ComfyUI or an sd-server slot.',
    licence: SDXL_LICENCE,
    sizeMb: 6_940,
    context: null,
    shape: null,
  }),
];

const TYPES: Readonly<Record<PurposeName, SlotTypeName>> = {
  chat: 'llm',
  coding: 'llm',
  small: 'llm',
  embedding: 'embedding',
  rerank: 'rerank',
  hearing: 'stt',
  speaking: 'tts',
  images: 'image',
};

/** Returns the slot type for a purpose. */
export const typeOf = ({ purpose }: KnownModel): SlotTypeName => TYPES[purpose];

/** Returns the name to pull. */
export const pullName = ({ repo, file }: KnownModel): string => (file === null ? repo : `${repo}:${file}`);

/** Returns the id of the registered model that was pulled from the same repository. Null when there is none. */
export function installedFrom(
  { repo, file }: KnownModel,
  here: readonly { readonly id: string; readonly repo: string | null }[],
): string | null {
  const isOf = (id: string) => file === null || id.toLowerCase().includes(file.toLowerCase());
  return here.find((model) => model.repo === repo && isOf(model.id))?.id ?? null;
}

/** Estimates the header of a model that is not downloaded yet: bytes, and tokens of the window. */
export function estimateHeader({ sizeMb, context, shape }: KnownModel) {
  const kvBytesPerToken = shape === null ? 0 : 2 * 2 * shape[0] * shape[1] * shape[2];
  return {
    sizeBytes: sizeMb * 1_000_000,
    contextTrain: context,
    kvBytesPerToken,
    embedding: shape?.[3] ?? 0,
  };
}
