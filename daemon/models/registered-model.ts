import { basename } from 'node:path';
import type { ModelRecordView } from '../contract/models.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import type { ModelRow } from '../store/models.ts';
import type { ContextMemory } from './context-memory.ts';
import type { ExpertWeights, GgufMetadata } from './gguf-metadata.ts';
import type { Absence } from './missing-model.ts';
import { asSamplingDefaults, type SamplingDefaults } from './sampling-defaults.ts';
import type { FoundFile } from './scan.ts';
import type { SimulatedContext, SimulatedPoint } from './simulated-context.ts';

/**
 * The source of a model: generated, found in a folder, registered by path, part of an installed program, or
 * pulled.
 */
export type ModelSource = 'demo' | 'scan' | 'register' | 'program' | 'pull';

/** A usable model with internal data (its path) and the numbers that determine its memory. */
export interface RegisteredModel extends ModelRecordView {
  readonly type: SlotTypeName;
  readonly source: ModelSource;
  /** Absolute path of the file; of the first part of a split model. */
  readonly path: string;
  readonly files: readonly string[];
  /** Bytes of all parts. */
  readonly sizeBytes: number;
  /** Unix seconds of the file's last change when its header was read. */
  readonly mtimeS: number;
  readonly contextTrain: number | null;
  readonly parameters: number | null;
  readonly layers: number | null;
  readonly kvHeads: number | null;
  readonly headDim: number | null;
  readonly embedding: number | null;
  readonly kvBytesPerToken: number | null;
  /** What the context takes in memory; null when the header does not say, or is not GGUF. */
  readonly contextMemory: ContextMemory | null;
  /** What llama.cpp says about its contexts; null before it was simulated, empty when that is impossible. */
  readonly simulated: SimulatedContext | null;
  /** Whether it can read a text in several steps, although it returns a vector or a score for the whole text. */
  readonly readsInSteps: boolean;
  /** Bytes of the weights that a card holds; null when unknown. */
  readonly cardBytes: number | null;
  /** The sampling that its author recommends; empty when the file names none. */
  readonly sampling: SamplingDefaults;
  /** The experts of a mixture of experts; null for any other model. */
  readonly experts: ExpertWeights | null;
  /** Bytes of the weights that one token reads; null when unknown. */
  readonly activeBytes: number | null;
  /** Storage types of its tensors that the embedded engine does not know; empty for a usable file. */
  readonly unknownTypes: readonly number[];
  /** Version of the header reader that read the fields; a model read by an older one is read again. */
  readonly headerVersion: number;
  readonly chatTemplate: boolean;
  readonly capabilities: Readonly<Record<string, boolean>>;
  /** Absolute path of the projector that adds vision. Null without one. */
  readonly projectorPath: string | null;
  readonly projectorBytes: number | null;
  /** True when an administrator set the thinking mode. Otherwise the header decides. */
  readonly thinkingChosen: boolean;
  /** Voice names of a speech model; empty for all others. */
  readonly voices: readonly string[];
  /** Language of a voice: a tag such as `en-US`, else as its file states it. Null when unknown and for all others. */
  readonly language: string | null;
}

/** Increase it when the header reader returns more than before, so that known files are read again. */
export const HEADER_VERSION = 8;

/** Header fields that the store keeps in addition to the public columns. */
const HEADER_KEYS = [
  'parameters',
  'layers',
  'kvHeads',
  'headDim',
  'embedding',
  'kvBytesPerToken',
  'contextMemory',
  'simulated',
  'readsInSteps',
  'cardBytes',
  'sampling',
  'experts',
  'activeBytes',
  'unknownTypes',
  'headerVersion',
  'chatTemplate',
  'chat_template',
  'voices',
  'language',
  'mtimeS',
  'projectorPath',
  'projectorBytes',
  'thinkingChosen',
] as const satisfies readonly (keyof RegisteredModel)[];

const SOURCES: readonly string[] = ['demo', 'scan', 'register', 'program', 'pull'] satisfies ModelSource[];
const TYPES: readonly string[] = [
  'llm',
  'embedding',
  'rerank',
  'tts',
  'stt',
  'image',
] satisfies SlotTypeName[];

/** Input and output modalities. */
const MODALITIES: Readonly<Partial<Record<SlotTypeName, [string, string]>>> = {
  tts: ['text', 'audio'],
  stt: ['audio', 'text'],
  image: ['text', 'image'],
};

/** Fields that only some models have. */
const NOT_PULLED = {
  repo: null,
  revision: null,
  sha256: null,
  projector: false,
  projectorPath: null,
  projectorBytes: null,
  thinkingChosen: false,
} as const;

/** Fields of models without a readable header. Models that only speak or listen need no memory per token. */
export const NO_TEXT = {
  context_length: null,
  enable_thinking: null,
  contextTrain: null,
  parameters: null,
  layers: null,
  kvHeads: null,
  headDim: null,
  embedding: null,
  kvBytesPerToken: 0,
  contextMemory: null,
  simulated: [],
  readsInSteps: false,
  cardBytes: null,
  sampling: {},
  experts: null,
  activeBytes: null,
  unknownTypes: [],
  headerVersion: HEADER_VERSION,
  chatTemplate: false,
  chat_template: null,
  capabilities: {},
  language: null,
  licence: null,
  demo: false,
  binding: null,
  ...NOT_PULLED,
} as const;

/** Returns the path fields of a found model, named after its file or folder. */
export const foundAt = (found: FoundFile) => ({
  name: basename(found.path),
  created: found.mtimeS,
  path: found.path,
  files: [found.path],
  sizeBytes: found.sizeBytes,
  mtimeS: found.mtimeS,
});

/** Builds a model that is registered for the first time. */
export function newModel(
  id: string,
  source: ModelSource,
  file: FoundFile,
  metadata: GgufMetadata,
): RegisteredModel {
  return {
    id,
    name: metadata.name ?? id,
    type: metadata.type,
    format: 'gguf',
    architecture: metadata.architecture,
    quantization: metadata.quantization,
    size_bytes: metadata.sizeBytes,
    context_length: metadata.contextTrain,
    enable_thinking: metadata.enableThinking,
    demo: source === 'demo',
    binding: null,
    created: file.mtimeS,
    source,
    path: metadata.files[0] ?? file.path,
    files: metadata.files,
    sizeBytes: metadata.sizeBytes,
    mtimeS: file.mtimeS,
    contextTrain: metadata.contextTrain,
    parameters: metadata.parameters,
    layers: metadata.layers,
    kvHeads: metadata.kvHeads,
    headDim: metadata.headDim,
    embedding: metadata.embedding,
    kvBytesPerToken: metadata.kvBytesPerToken,
    contextMemory: metadata.contextMemory,
    simulated: null,
    readsInSteps: metadata.readsInSteps,
    cardBytes: metadata.cardBytes,
    sampling: metadata.sampling,
    experts: metadata.experts,
    activeBytes: metadata.activeBytes,
    unknownTypes: metadata.unknownTypes,
    headerVersion: HEADER_VERSION,
    chatTemplate: metadata.chatTemplate,
    chat_template: metadata.type === 'llm' ? metadata.builtInTemplate : null,
    capabilities: metadata.capabilities,
    licence: metadata.licence,
    voices: [],
    language: null,
    ...NOT_PULLED,
  };
}

/**
 * Converts a model to a store row. `previous` is the replaced row, whose measured and chosen values are kept.
 * `absence` is set for a missing model.
 */
export function toRow(
  model: RegisteredModel,
  previous: ModelRow | null,
  absence: Absence | null = null,
): ModelRow {
  const [input, output] = MODALITIES[model.type] ?? ['text', 'text'];
  return {
    ...modelView(model),
    file: model.path,
    files: [...model.files],
    modalities: { input: [input], output: [output] },
    capabilities: { ...model.capabilities },
    auto_slot: previous?.auto_slot ?? null,
    memory: previous?.size_bytes === model.sizeBytes ? previous.memory : {},
    header: {
      ...Object.fromEntries(HEADER_KEYS.map((key) => [key, model[key]])),
      ...(absence === null ? {} : { absence }),
    },
  };
}

const CONTEXT_KEYS = [
  'fullBytesPerToken',
  'slidingBytesPerToken',
  'slidingWindow',
  'stateBytesPerSequence',
  'vocabulary',
  'stepBytes',
  'networkBytes',
  'draftBytesPerToken',
] as const satisfies readonly (keyof ContextMemory)[];

/** Reads a stored value; null when it is not one. */
function asContextMemory(value: unknown): ContextMemory | null {
  if (typeof value !== 'object' || value === null) return null;
  const record = value as Record<string, unknown>;
  return CONTEXT_KEYS.every((key) => typeof record[key] === 'number') ? (value as ContextMemory) : null;
}

/** Reads a stored value; null when it is not one. */
function asExperts(value: unknown): ExpertWeights | null {
  const { bytes, layers } = (value ?? {}) as Record<string, unknown>;
  return typeof bytes === 'number' && typeof layers === 'number' ? { bytes, layers } : null;
}

/** Reads a stored list; empty when it is none. */
const asNumbers = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'number') : [];

const POINT_KEYS = [
  'context',
  'windowBytes',
  'stepBytes',
] as const satisfies readonly (keyof SimulatedPoint)[];

/** Reads stored points; null when they are none. */
function asSimulated(value: unknown): SimulatedContext | null {
  if (!Array.isArray(value)) return null;
  const isPoint = (one: unknown) =>
    typeof one === 'object' &&
    one !== null &&
    POINT_KEYS.every((key) => typeof (one as Record<string, unknown>)[key] === 'number');
  return value.every(isPoint) ? (value as SimulatedContext) : null;
}

/** Converts a store row to a model. Null for a row of another module or one that lacks required fields. */
export function fromRow(row: ModelRow): RegisteredModel | null {
  if (row.file === null || !SOURCES.includes(row.source) || !TYPES.includes(row.type)) return null;
  const source = row.source as ModelSource;
  const { projectorPath, chat_template: builtIn } = row.header;
  const number = (key: (typeof HEADER_KEYS)[number]) => {
    const value = row.header[key];
    return typeof value === 'number' ? value : null;
  };
  return {
    ...modelView({
      ...row,
      source,
      projector: typeof projectorPath === 'string',
      chat_template: typeof builtIn === 'string' ? builtIn : null,
    }),
    type: row.type as SlotTypeName,
    path: row.file,
    files: row.files,
    sizeBytes: row.size_bytes,
    mtimeS: number('mtimeS') ?? 0,
    contextTrain: row.context_length,
    parameters: number('parameters'),
    layers: number('layers'),
    kvHeads: number('kvHeads'),
    headDim: number('headDim'),
    embedding: number('embedding'),
    kvBytesPerToken: number('kvBytesPerToken'),
    contextMemory: asContextMemory(row.header.contextMemory),
    simulated: asSimulated(row.header.simulated),
    readsInSteps: row.header.readsInSteps === true,
    cardBytes: number('cardBytes'),
    sampling: asSamplingDefaults(row.header.sampling),
    experts: asExperts(row.header.experts),
    activeBytes: number('activeBytes'),
    unknownTypes: asNumbers(row.header.unknownTypes),
    headerVersion: number('headerVersion') ?? 1,
    chatTemplate: row.header.chatTemplate === true,
    capabilities: row.capabilities,
    projectorPath: typeof projectorPath === 'string' ? projectorPath : null,
    projectorBytes: number('projectorBytes'),
    thinkingChosen: row.header.thinkingChosen === true,
    voices: Array.isArray(row.header.voices) ? row.header.voices.map(String) : [],
    language: typeof row.header.language === 'string' ? row.header.language : null,
  };
}

/** Returns the public fields only, never a path. */
export function modelView(model: ModelRecordView): ModelRecordView {
  return {
    id: model.id,
    name: model.name,
    type: model.type,
    format: model.format,
    architecture: model.architecture,
    quantization: model.quantization,
    size_bytes: model.size_bytes,
    context_length: model.context_length,
    enable_thinking: model.enable_thinking,
    demo: model.demo,
    binding: model.binding,
    created: model.created,
    source: model.source,
    licence: model.licence,
    repo: model.repo,
    revision: model.revision,
    sha256: model.sha256,
    projector: model.projector,
    chat_template: model.chat_template,
  };
}
