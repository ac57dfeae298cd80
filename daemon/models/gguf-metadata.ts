import { truncate } from '../lib/text/truncate.ts';
import { type ContextMemory, contextMemory, hasCache, isPlausible, largest } from './context-memory.ts';
import {
  asNumber,
  asText,
  fileSize,
  GgufError,
  type GgufHeader,
  type Metadata,
  readHeader,
  readingLibrary,
} from './gguf-header.ts';
import { type SamplingDefaults, samplingDefaults } from './sampling-defaults.ts';
import { splitParts } from './split-files.ts';
import { templateMetadata } from './template-metadata.ts';
import { isKnownType, type TensorInfo, tensorBytes } from './tensor-sizes.ts';

export type GgufModelType = 'llm' | 'embedding' | 'rerank';

/** The metadata in the header of a GGUF file. Null: the file does not say. */
export interface GgufMetadata {
  architecture: string;
  name: string | null;
  type: GgufModelType;
  /** Trained context window in tokens. */
  contextTrain: number | null;
  /** Number of weights. */
  parameters: number;
  quantization: string | null;
  licence: string | null;
  /** True when the file has its own chat template. */
  chatTemplate: boolean;
  /** Name of the built-in template that replaces a missing one; null when the file has a template. */
  builtInTemplate: string | null;
  capabilities: { tools: boolean; vision: boolean; reasoning: boolean };
  /**
   * Whether its template enables thinking by default. Null when it has no such switch or the default is
   * unclear.
   */
  enableThinking: boolean | null;
  /** Bytes of all parts. */
  sizeBytes: number;
  /** All parts in order; one for a file that is not split. */
  files: string[];
  layers: number | null;
  /** Key and value heads, averaged over all layers. */
  kvHeads: number | null;
  /** Width of one head, averaged over keys and values. */
  headDim: number | null;
  embedding: number | null;
  /**
   * Bytes of the context window per token for two-byte keys and values. An upper bound for models with
   * sliding windows; 0 for encoders, which have no cache.
   */
  kvBytesPerToken: number | null;
  /** What the context takes in memory. Null when the header lacks the sizes. */
  contextMemory: ContextMemory | null;
  /** Whether a text can be read in several steps: its vector or score depends on the last token only. */
  readsInSteps: boolean;
  /** The experts of a mixture of experts, which an engine can keep on the host. Null for any other model. */
  experts: ExpertWeights | null;
  /** Bytes of the weights that one token reads. */
  activeBytes: number;
  /** Storage types that the engine does not know; empty for a usable file. */
  unknownTypes: number[];
  /** Bytes of the weights that a card holds when every layer is on it: the token tables stay on the host. */
  cardBytes: number;
  /** The sampling that its author recommends. */
  sampling: SamplingDefaults;
}

/** The weights of all experts, in the layers that have some. */
export interface ExpertWeights {
  readonly bytes: number;
  readonly layers: number;
}

/** Tensors of experts; the rule of llama.cpp for `--cpu-moe` (`LLM_FFN_EXPS_REGEX`). */
const EXPERT = /^blk\.(\d+)\.ffn_(up|down|gate|gate_up)_(ch)?exps/;

const totalOf = (tensors: readonly TensorInfo[]): number =>
  tensors.reduce((sum, tensor) => sum + tensorBytes(tensor), 0);

function expertWeights(tensors: readonly TensorInfo[]): ExpertWeights | null {
  const experts = tensors.filter(({ name = '' }) => EXPERT.test(name));
  const layers = new Set(experts.map(({ name = '' }) => EXPERT.exec(name)?.[1]));
  return experts.length === 0 ? null : { bytes: totalOf(experts), layers: layers.size };
}

/** Returns the bytes that one token reads: the used share of the experts, and all else but the tables of tokens. */
function activeBytes(
  tensors: readonly TensorInfo[],
  { experts, count, used }: { experts: ExpertWeights | null; count: number; used: number },
): number {
  const dense = totalOf(tensors) - hostOnlyBytes(tensors) - (experts?.bytes ?? 0);
  const share = count > 0 && used > 0 ? Math.min(1, used / count) : 1;
  return Math.round(dense + (experts?.bytes ?? 0) * share);
}

/** Tables that llama.cpp reads on the host, whatever the device of the layers. */
const HOST_TABLES: ReadonlySet<string> = new Set([
  'token_embd.weight',
  'per_layer_token_embd.weight',
  'position_embd.weight',
]);

/** Returns the bytes of the host's tables that a card does not hold. A tied output layer is a copy on the card. */
function hostOnlyBytes(tensors: readonly TensorInfo[]): number {
  const isTied = !tensors.some(({ name }) => name === 'output.weight');
  const onHost = ({ name = '' }: TensorInfo) =>
    HOST_TABLES.has(name) && !(isTied && name === 'token_embd.weight');
  return tensors.filter(onHost).reduce((sum, tensor) => sum + tensorBytes(tensor), 0);
}

/** Maximum number of unknown tensor types that are stored: a damaged header may have one for each tensor. */
const MAX_UNKNOWN_TYPES = 32;

const unknownTypesOf = (tensors: readonly TensorInfo[]): number[] =>
  [...new Set(tensors.map(({ dtype }) => dtype))]
    .filter((type) => !isKnownType(type))
    .slice(0, MAX_UNKNOWN_TYPES);

/** Architectures that always produce vectors. */
const ENCODERS = /bert|embed|^t5encoder$/;
/** Values of `pooling_type`: the last token of a text decides the vector, or the score of a rerank model. */
const POOLING_LAST = 3;
const POOLING_RANK = 4;
const KV_VALUE_BYTES = 2;

/** Returns the mean of a value that is given once or as a list per layer. */
function meanOf(value: unknown): number | null {
  if (!Array.isArray(value)) return asNumber(value);
  const numbers = value.map(asNumber).filter((one) => one !== null);
  return numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/** Returns the slot type: pooling type rank reranks, an encoder or any other pooling embeds, the rest chats. */
export function modelType(architecture: string, pooling: number | null): GgufModelType {
  if (pooling === POOLING_RANK) return 'rerank';
  return ENCODERS.test(architecture) || (pooling !== null && pooling > 0) ? 'embedding' : 'llm';
}

async function quantization(metadata: Metadata, tensors: readonly TensorInfo[]): Promise<string | null> {
  const { GGMLFileQuantizationType, GGMLQuantizationType } = await readingLibrary();
  const fileType = asNumber(metadata['general.file_type']);
  if (fileType !== null) return GGMLFileQuantizationType[fileType] ?? null;
  const counts = new Map<number, number>();
  for (const { dtype } of tensors) counts.set(dtype, (counts.get(dtype) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most === undefined ? null : (GGMLQuantizationType[most[0]] ?? null);
}

/** Reads the sizes that determine the memory of the context window. */
function shape(metadata: Metadata, architecture: string) {
  const of = (key: string) => metadata[`${architecture}.${key}`];
  const layers = asNumber(of('block_count'));
  const heads = meanOf(of('attention.head_count'));
  const kvHeads = meanOf(of('attention.head_count_kv')) ?? heads;
  const embedding = asNumber(of('embedding_length'));
  const plain = embedding === null || !heads ? null : embedding / heads;
  const keyLength = asNumber(of('attention.key_length')) ?? plain;
  const valueLength = asNumber(of('attention.value_length')) ?? plain;
  const headDim = keyLength === null || valueLength === null ? null : (keyLength + valueLength) / 2;
  const known = layers !== null && kvHeads !== null && headDim !== null;
  const cacheBytes = known ? Math.ceil(2 * KV_VALUE_BYTES * layers * kvHeads * headDim) : null;
  const kvBytesPerToken = ENCODERS.test(architecture) ? 0 : plausible(cacheBytes);
  return { layers, kvHeads, headDim, embedding: plausible(embedding), kvBytesPerToken };
}

const plausible = (value: number | null): number | null =>
  value !== null && isPlausible(value) ? value : null;

function parameterCount(tensors: readonly TensorInfo[]): number {
  const sizes = tensors.map(({ shape: sides }) => sides.reduce((product, side) => product * Number(side), 1));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A file that adds vision or audio input to another model. */
export class ProjectorFile extends GgufError {}

/** Returns the architecture. Throws when the file is no language model. */
function languageModel(metadata: Metadata): string {
  const architecture = asText(metadata['general.architecture']);
  if (architecture === null) throw new GgufError('its header names no architecture');
  const kind = asText(metadata['general.type']);
  if (kind === 'adapter') throw new GgufError('it is a LoRA adapter, not a complete model');
  if (kind === 'mmproj' || architecture === 'clip')
    throw new ProjectorFile('it is a projector for another model');
  if (
    metadata['tokenizer.ggml.model'] === undefined ||
    asNumber(metadata[`${architecture}.block_count`]) === null
  ) {
    throw new GgufError(`it is not a language model (architecture ${truncate(architecture, 64)})`);
  }
  return architecture;
}

/** Adds the number of the faulty part to an error. */
const ofPart = (error: Error, index: number, parts: number): Error =>
  parts === 1 ? error : new GgufError(`part ${index + 1} of ${parts}: ${error.message}`, { cause: error });

/**
 * Returns the metadata of the first part and the tensors of all after checking every part. Checks one at a time,
 * because there may be hundreds.
 */
async function headerOf(files: readonly string[], sizes: readonly number[]): Promise<GgufHeader> {
  const header = (index: number) =>
    readHeader(files[index] as string, sizes[index] as number).catch((error: Error) => {
      throw ofPart(error, index, files.length);
    });
  const { metadata, tensors: own } = await header(0);
  const tensors = [...own];
  for (let index = 1; index < files.length; index++) tensors.push(...(await header(index)).tensors);
  return { metadata, tensors };
}

/**
 * Reads the metadata of a GGUF file. For a split model, pass its first part. Throws GgufError with the reason
 * for a file that is missing, damaged, incomplete or no language model. Parsing a large vocabulary takes 0.1
 * s of processor time: use `readMetadataInChild` in the daemon.
 */
export async function readGgufMetadata(path: string): Promise<GgufMetadata> {
  const files = splitParts(path);
  const sizes = await Promise.all(
    files.map((file, index) =>
      fileSize(file).catch((error: Error) => {
        throw ofPart(error, index, files.length);
      }),
    ),
  );
  const header = await headerOf(files, sizes);
  return describeHeader(
    header,
    files,
    sizes.reduce((sum, size) => sum + size, 0),
  );
}

/**
 * Reads the metadata of the beginning of a GGUF file, or of the first part of a split one, that has `sizeBytes` in
 * total. Throws like `readGgufMetadata`.
 */
export async function readGgufHead(path: string, sizeBytes: number): Promise<GgufMetadata> {
  return describeHeader(await readHeader(path, sizeBytes), [path], sizeBytes);
}

/** Returns what a header says. Throws GgufError when the file is no language model. */
async function describeHeader(
  { metadata, tensors }: GgufHeader,
  files: string[],
  sizeBytes: number,
): Promise<GgufMetadata> {
  const architecture = languageModel(metadata);
  const memory = contextMemory(metadata, architecture);
  const of = (key: string) => largest(metadata[`${architecture}.${key}`]);
  const pooling = asNumber(metadata[`${architecture}.pooling_type`]);
  const experts = expertWeights(tensors);
  return {
    architecture,
    name: asText(metadata['general.name']),
    type: modelType(architecture, pooling),
    contextTrain: asNumber(metadata[`${architecture}.context_length`]),
    parameters: parameterCount(tensors),
    quantization: await quantization(metadata, tensors),
    licence: asText(metadata['general.license']),
    ...templateMetadata(metadata),
    sizeBytes,
    files,
    ...shape(metadata, architecture),
    contextMemory: memory,
    readsInSteps:
      memory !== null && hasCache(memory) && (pooling === POOLING_LAST || pooling === POOLING_RANK),
    sampling: samplingDefaults((key) => metadata[`general.sampling.${key}`]),
    experts,
    activeBytes: activeBytes(tensors, { experts, count: of('expert_count'), used: of('expert_used_count') }),
    unknownTypes: unknownTypesOf(tensors),
    cardBytes: sizeBytes - hostOnlyBytes(tensors),
  };
}
