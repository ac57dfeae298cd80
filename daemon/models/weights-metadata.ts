import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SlotTypeName } from '../contract/slots.ts';
import { readFault } from './read-error.ts';

/** The facts in a folder of safetensors. Null: it does not say. */
export interface WeightsMetadata {
  readonly kind: 'weights';
  readonly type: SlotTypeName;
  readonly architecture: string | null;
  /** Trained context window in tokens. */
  readonly contextTrain: number | null;
  readonly quantization: string | null;
  /** Bytes of all weights. */
  readonly sizeBytes: number;
}

const MAX_ENTRIES = 4_096;
const MAX_JSON_BYTES = 4 << 20;
/** One line per tensor: tens of thousands in a model with hundreds of experts. */
const MAX_LIST_BYTES = 64 << 20;
const LIST = 'model.safetensors.index.json';
const WEIGHTS = /\.safetensors$/i;
/** Files that describe the weights. */
const CONFIG_FILES: readonly string[] = ['config.json', 'model_index.json'];

/** Maps class names of a configuration to a slot type. The first match counts. */
const CLASSES: readonly (readonly [RegExp, SlotTypeName])[] = [
  [/Whisper|SpeechSeq2Seq|ForCTC/, 'stt'],
  [/TextToSpeech|ForTextToWaveform|Vits/, 'tts'],
  [/ForSequenceClassification/, 'rerank'],
  [/ForCausalLM|ForConditionalGeneration|LMHead/, 'llm'],
  [/Model$|ForMaskedLM|Embedding/, 'embedding'],
];

/** Returns whether a folder with these names contains safetensors and a description. */
export const isWeightsFolder = (names: readonly string[]): boolean =>
  names.includes('model_index.json') ||
  (names.includes('config.json') && names.some((name) => WEIGHTS.test(name)));

/** Returns size and last change of the weights in a folder. Null when it is no such folder. */
export async function weightsSize(
  folder: string,
): Promise<{ sizeBytes: number; mtimeS: number; ctimeMs: number } | null> {
  const names = (await readdir(folder).catch(() => [])).slice(0, MAX_ENTRIES);
  if (!isWeightsFolder(names)) return null;
  const parts = names.includes('model_index.json') ? names.filter((name) => !name.startsWith('.')) : [];
  const inner = await Promise.all(
    parts.map(async (name) =>
      (await readdir(join(folder, name)).catch(() => [])).map((each) => join(name, each)),
    ),
  );
  const files = [...names, ...inner.flat()].filter((name) => WEIGHTS.test(name)).slice(0, MAX_ENTRIES);
  const statAll = (some: readonly string[]) =>
    Promise.all(some.map((name) => stat(join(folder, name)).catch(() => null)));
  const all = (await statAll(files)).filter((stats) => stats?.isFile());
  const configs = await statAll(names.filter((name) => CONFIG_FILES.includes(name)));
  return {
    sizeBytes: all.reduce((sum, stats) => sum + (stats?.size ?? 0), 0),
    mtimeS: Math.floor(Math.max(0, ...all.map((stats) => stats?.mtimeMs ?? 0)) / 1000),
    ctimeMs: Math.max(0, ...[...all, ...configs].map((stats) => stats?.ctimeMs ?? 0)),
  };
}

async function jsonOf(path: string, most = MAX_JSON_BYTES): Promise<Record<string, unknown>> {
  const { size } = await stat(path);
  if (size > most) throw new Error('its configuration is too large');
  const value: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (typeof value !== 'object' || value === null) throw new Error('its configuration is not an object');
  return value as Record<string, unknown>;
}

const word = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w.+-]{1,80}$/.test(value) ? value : null;
const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;

/** Returns the slot type for these class names. Null when none is known. */
export function typeOfClasses(classes: readonly string[]): SlotTypeName | null {
  for (const name of classes) {
    const found = CLASSES.find(([pattern]) => pattern.test(name));
    if (found !== undefined) return found[1];
  }
  return null;
}

/**
 * Returns the files in the folder's index. Empty without an index, or when a single complete file exists,
 * which has priority.
 */
async function listedFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  if (!names.includes(LIST) || names.includes('model.safetensors')) return [];
  const { weight_map: map } = await jsonOf(join(folder, LIST), MAX_LIST_BYTES).catch((error: Error) => {
    throw new Error(readFault(error) ?? 'its list of weights is damaged', { cause: error });
  });
  if (typeof map !== 'object' || map === null) throw new Error('its list of weights is damaged');
  return [...new Set(Object.values(map).map(String))].slice(0, MAX_ENTRIES);
}

/** Throws unless every file in the folder's index exists. */
async function requireListedFiles(folder: string): Promise<void> {
  const files = await listedFiles(folder);
  const sizes = await Promise.all(
    files.map((name) =>
      stat(join(folder, basename(name))).then(
        (stats) => (stats.isFile() ? stats.size : 0),
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return 0;
          throw error;
        },
      ),
    ),
  );
  const missing = sizes.filter((size) => size === 0).length;
  if (missing > 0)
    throw new Error(
      `${missing} of its ${files.length} files of weights ${missing === 1 ? 'is' : 'are'} missing`,
    );
}

/** Returns the format of safetensors that only one program of another platform reads. Null for any other. */
function foreignFormat(quantization: unknown, method: unknown): string | null {
  if (method === 'exl2' || method === 'exl3') return 'ExLlama';
  const isMlx = typeof quantization === 'object' && quantization !== null && 'group_size' in quantization;
  return isMlx && method === undefined ? 'MLX' : null;
}

/** Reads the facts of the safetensors in `folder`. Throws a one-line Error for a folder that is none. */
export async function readWeightsMetadata(folder: string): Promise<WeightsMetadata> {
  const size = await weightsSize(folder);
  if (size === null) throw new Error('the folder contains no model');
  if (size.sizeBytes === 0) throw new Error('its weights are missing');
  const common = { kind: 'weights', sizeBytes: size.sizeBytes } as const;
  const index = await jsonOf(join(folder, 'model_index.json')).catch(() => null);
  if (index !== null) {
    return {
      ...common,
      type: 'image',
      architecture: word(index._class_name),
      contextTrain: null,
      quantization: null,
    };
  }
  await requireListedFiles(folder);
  const config = await jsonOf(join(folder, 'config.json')).catch((error: Error) => {
    const reason = error instanceof SyntaxError ? 'its config.json is not valid JSON' : error.message;
    throw new Error(readFault(error) ?? reason, { cause: error });
  });
  const classes = Array.isArray(config.architectures) ? config.architectures.map(String) : [];
  const type = typeOfClasses(classes);
  if (type === null) throw new Error('its config.json names no known architecture');
  const text = (config.text_config ?? config) as Record<string, unknown>;
  const quant = (config.quantization_config ?? {}) as Record<string, unknown>;
  const foreign = foreignFormat(config.quantization, quant.quant_method);
  if (foreign !== null) throw new Error(`the model is in ${foreign} format, which no engine here reads`);
  return {
    ...common,
    type,
    architecture: word(config.model_type) ?? word(classes[0]),
    contextTrain: count(text.max_position_embeddings),
    quantization: word(quant.quant_method) ?? word(config.torch_dtype) ?? word(config.dtype),
  };
}
