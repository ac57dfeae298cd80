import { basename } from 'node:path';
import type { ModelRecordView } from '../contract/models.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import type { ModelRow } from '../store/models.ts';
import type { Absence } from './absence.ts';
import type { GgufFacts } from './gguf-facts.ts';
import type { FoundFile } from './scan.ts';

/** How a model came here: made by us, found in a folder, named by the operator, part of a program of this machine, pulled. */
export type ModelSource = 'demo' | 'scan' | 'register' | 'program' | 'pull';

/** One usable model, with what only the daemon may know (its place) and what decides its memory. */
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
  readonly chatTemplate: boolean;
  readonly capabilities: Readonly<Record<string, boolean>>;
  /** Absolute path of the file that lets it see pictures; null without one. */
  readonly projectorPath: string | null;
  readonly projectorBytes: number | null;
  /** Whether somebody has said how it thinks; else its header does. */
  readonly thinkingChosen: boolean;
  /** Names of the voices of a model that speaks; empty for all others. */
  readonly voices: readonly string[];
}

/** Header facts that the store keeps beside the public columns. */
const HEADER_KEYS = [
  'parameters',
  'layers',
  'kvHeads',
  'headDim',
  'embedding',
  'kvBytesPerToken',
  'chatTemplate',
  'voices',
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

/** What goes in and what comes out. */
const MODALITIES: Readonly<Partial<Record<SlotTypeName, [string, string]>>> = {
  tts: ['text', 'audio'],
  stt: ['audio', 'text'],
  image: ['text', 'image'],
};

/** What only some models have. */
const NOT_PULLED = {
  repo: null,
  revision: null,
  sha256: null,
  projector: false,
  projectorPath: null,
  projectorBytes: null,
  thinkingChosen: false,
} as const;

/** What is the same for all models whose header nobody reads; those that only speak or listen need no memory for a token. */
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
  chatTemplate: false,
  capabilities: {},
  licence: null,
  demo: false,
  binding: null,
  ...NOT_PULLED,
} as const;

/** Where a model that was found lies, named after its file or folder. */
export const foundAt = (found: FoundFile) => ({
  name: basename(found.path),
  created: found.mtimeS,
  path: found.path,
  files: [found.path],
  sizeBytes: found.sizeBytes,
  mtimeS: found.mtimeS,
});

/** A model as it is registered the first time. */
export function newModel(
  id: string,
  source: ModelSource,
  file: FoundFile,
  facts: GgufFacts,
): RegisteredModel {
  return {
    id,
    name: facts.name ?? id,
    type: facts.type,
    format: 'gguf',
    architecture: facts.architecture,
    quantization: facts.quantization,
    size_bytes: facts.sizeBytes,
    context_length: facts.contextTrain,
    enable_thinking: facts.enableThinking,
    demo: source === 'demo',
    binding: null,
    created: file.mtimeS,
    source,
    path: facts.files[0] ?? file.path,
    files: facts.files,
    sizeBytes: facts.sizeBytes,
    mtimeS: file.mtimeS,
    contextTrain: facts.contextTrain,
    parameters: facts.parameters,
    layers: facts.layers,
    kvHeads: facts.kvHeads,
    headDim: facts.headDim,
    embedding: facts.embedding,
    kvBytesPerToken: facts.kvBytesPerToken,
    chatTemplate: facts.chatTemplate,
    capabilities: facts.capabilities,
    licence: facts.licence,
    voices: [],
    ...NOT_PULLED,
  };
}

/** The store's row of a model; `kept` is the row it replaces, whose measured and chosen values stay; `absence` of one out of sight. */
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

/** The model of a row of ours; null for a row that another part keeps or that lacks what is needed. */
export function fromRow(row: ModelRow): RegisteredModel | null {
  if (row.file === null || !SOURCES.includes(row.source) || !TYPES.includes(row.type)) return null;
  const source = row.source as ModelSource;
  const { projectorPath } = row.header;
  const number = (key: (typeof HEADER_KEYS)[number]) => {
    const value = row.header[key];
    return typeof value === 'number' ? value : null;
  };
  return {
    ...modelView({ ...row, source, projector: typeof row.header.projectorPath === 'string' }),
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
    chatTemplate: row.header.chatTemplate === true,
    capabilities: row.capabilities,
    projectorPath: typeof projectorPath === 'string' ? projectorPath : null,
    projectorBytes: number('projectorBytes'),
    thinkingChosen: row.header.thinkingChosen === true,
    voices: Array.isArray(row.header.voices) ? row.header.voices.map(String) : [],
  };
}

/** The public part, and nothing else: never a path. */
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
  };
}
