import type { SlotTypeName } from '../contract/slots.ts';
import { isWanted } from './globs.ts';

/** One model in the list of an upstream. */
export interface UpstreamModel {
  readonly id: string;
  /** Null when the list does not contain it. */
  readonly type: SlotTypeName | null;
  /** Window in tokens. */
  readonly context: number | null;
  /** Unix seconds. */
  readonly created: number | null;
  /** Whether the list reports image input. */
  readonly vision?: true;
  /** Whether the list names the inputs of the model, and images are not among them. */
  readonly textOnly?: true;
  /** What it can do, in the words of another svc-gateway. */
  readonly capabilities?: Readonly<Record<string, boolean>>;
  /** Whether it is loaded there; absent when the list does not say. */
  readonly loaded?: boolean;
  /** Whether the list is that of Ray Serve LLM. */
  readonly isRayServe?: true;
  /** Requests of other callers that run or wait there, as of the list. */
  readonly othersActive?: number;
}

/** Maximum number of models per upstream. */
export const MAX_MODELS = 2_000;
const MAX_ID_LENGTH = 256;
const CONTROLS = /[\0-\x1f\x7f]/;

type Json = Record<string, unknown>;
const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

/** The type of a model by its output modality. */
const BY_OUTPUT: Readonly<Record<string, SlotTypeName>> = {
  text: 'llm',
  embedding: 'embedding',
  embeddings: 'embedding',
  score: 'rerank',
  rerank: 'rerank',
  image: 'image',
  audio: 'tts',
};

/** Returns the records of a list in any of the known forms, or null. */
function records(value: unknown): unknown[] | null {
  const root = asObject(value);
  const list = Array.isArray(value) ? value : (root?.data ?? root?.models);
  return Array.isArray(list) ? list : null;
}

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;

/** vLLM, OpenRouter and others, LiteLLM, Ray Serve LLM, llama-server: each has its own name for the window. */
function contextOf(record: Json): number | null {
  const meta = asObject(record.meta);
  const places = [
    record.max_model_len,
    record.context_length,
    record.context_window,
    record.max_input_tokens,
    asObject(record.model_info)?.max_input_tokens,
    asObject(record.metadata)?.max_request_context_length,
    meta?.n_ctx,
  ];
  return places.map(count).find((each) => each !== null) ?? count(meta?.n_ctx_train);
}

function inputOf(record: Json): Pick<UpstreamModel, 'vision' | 'textOnly'> {
  const input = asObject(record.architecture)?.input_modalities;
  if (!Array.isArray(input)) return {};
  if (input.includes('image')) return { vision: true };
  return input.includes('text') ? { textOnly: true } : {};
}

/** Maximum number of capabilities of one model. */
const MAX_CAPABILITIES = 32;
const CAPABILITY = /^[a-z][a-z0-9_]{0,31}$/;

/** Other servers use the same field with other words. */
function capabilitiesOf({ _svc, capabilities }: Json): Pick<UpstreamModel, 'capabilities'> {
  const found = asObject(_svc) === undefined ? undefined : asObject(capabilities);
  if (found === undefined) return {};
  const known = Object.entries(found).filter(
    ([name, is]) => CAPABILITY.test(name) && typeof is === 'boolean',
  );
  return { capabilities: Object.fromEntries(known.slice(0, MAX_CAPABILITIES)) as Record<string, boolean> };
}

/** The states of a slot that serves without a load. */
const LOADED_STATES: ReadonlySet<unknown> = new Set(['ready', 'serving']);

/** svc-gateway reports the state and the requests of the slot; llama-server as a router and llama-swap a status. */
function loadStateOf({ _svc, status }: Json): Pick<UpstreamModel, 'loaded' | 'othersActive'> {
  const slot = asObject(_svc);
  if (typeof slot?.slot === 'string') {
    const active = (count(slot.active) ?? 0) + (count(slot.queued) ?? 0);
    return { loaded: LOADED_STATES.has(slot.state), ...(active > 0 && { othersActive: active }) };
  }
  const value = asObject(status)?.value ?? status;
  return value === 'loaded' || value === 'unloaded' ? { loaded: value === 'loaded' } : {};
}

function typeOf(record: Json): SlotTypeName | null {
  const { input_modalities: input, output_modalities: output } = asObject(record.architecture) ?? {};
  const made = Array.isArray(output) && output.length === 1 ? String(output[0]) : '';
  if (made === 'text' && Array.isArray(input) && input.length === 1 && input[0] === 'audio') return 'stt';
  if (Object.hasOwn(BY_OUTPUT, made)) return BY_OUTPUT[made] as SlotTypeName;
  return declaredType(record);
}

/** The kind of a model in the words of LM Studio, Together, LiteLLM, Hugging Face and this gateway. */
const BY_KIND: Readonly<Record<string, SlotTypeName>> = {
  llm: 'llm',
  vlm: 'llm',
  chat: 'llm',
  language: 'llm',
  completion: 'llm',
  'text-generation': 'llm',
  embedding: 'embedding',
  embeddings: 'embedding',
  'feature-extraction': 'embedding',
  rerank: 'rerank',
  image: 'image',
  image_generation: 'image',
  'text-to-image': 'image',
  tts: 'tts',
  audio_speech: 'tts',
  'text-to-speech': 'tts',
  stt: 'stt',
  transcribe: 'stt',
  audio_transcription: 'stt',
  'automatic-speech-recognition': 'stt',
};

/** Capabilities of this gateway's own list that a chat model does not have. */
const BY_CAPABILITY: Readonly<Record<string, SlotTypeName>> = {
  embeddings: 'embedding',
  rerank: 'rerank',
  transcription: 'stt',
  speech: 'tts',
  image_generation: 'image',
};

function declaredType(record: Json): SlotTypeName | null {
  const kinds = [record.type, record.mode, record.task, asObject(record.model_info)?.mode];
  const kind = kinds.find((each) => typeof each === 'string' && Object.hasOwn(BY_KIND, each.toLowerCase()));
  if (kind !== undefined) return BY_KIND[String(kind).toLowerCase()] as SlotTypeName;
  const capabilities = asObject(record.capabilities) ?? {};
  if (capabilities.chat === true) return null;
  const named = Object.keys(BY_CAPABILITY).find((each) => capabilities[each] === true);
  return named === undefined ? null : (BY_CAPABILITY[named] as SlotTypeName);
}

/** Returns true for aliases of another svc-gateway and for models that it forwards from its own upstreams. */
function isForwarded(record: Json): boolean {
  const own = asObject(record._svc);
  return own !== undefined && (own.is_alias === true || own.virtual === true || record.owned_by !== 'svc');
}

/** Ray Serve LLM describes its models in `metadata`, which is empty without a known window. vLLM has no such field. */
const isRayServe = ({ metadata, _svc }: Json): boolean =>
  asObject(metadata) !== undefined && _svc === undefined;

function modelOf(value: unknown): UpstreamModel | null {
  const record = typeof value === 'string' ? { id: value } : asObject(value);
  const id = record?.id ?? record?.name;
  if (!record || typeof id !== 'string' || id.trim() === '' || id.length > MAX_ID_LENGTH) return null;
  if (CONTROLS.test(id) || id.startsWith('svc/') || isForwarded(record)) return null;
  return {
    id,
    type: typeOf(record),
    context: contextOf(record),
    created: count(record.created),
    ...inputOf(record),
    ...capabilitiesOf(record),
    ...loadStateOf(record),
    ...(isRayServe(record) && { isRayServe: true }),
  };
}

/** Returns the models of a list without the `active` calls of this gateway in their load. */
export const withoutOwnCalls = (models: readonly UpstreamModel[], active: number): readonly UpstreamModel[] =>
  models.map((model) =>
    model.othersActive === undefined
      ? model
      : { ...model, othersActive: Math.max(0, model.othersActive - active) },
  );

export interface ModelFilter {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/**
 * Returns the models of a list, each id once, at most 2,000. Skips invalid records. Skips `svc/…` names and
 * aliases of another svc-gateway, because they mean slots of that gateway, and models that it forwards, so
 * that two gateways do not list each other's lists. Returns null when it is not a model list.
 */
export function readModelList(value: unknown): UpstreamModel[] | null {
  const list = records(value);
  if (list === null) return null;
  const found = new Map<string, UpstreamModel>();
  /** The base models of adapters. */
  const bases = new Map<string, string>();
  for (const record of list) {
    if (found.size >= MAX_MODELS) break;
    const model = modelOf(record);
    if (model === null || found.has(model.id)) continue;
    found.set(model.id, model);
    const base = asObject(record)?.parent;
    if (typeof base === 'string') bases.set(model.id, base);
  }
  return [...found.values()].map((model) => withWindowOf(model, found.get(bases.get(model.id) ?? '')));
}

/** vLLM lists a LoRA adapter with the name of its model in `parent`, and without a window. */
const withWindowOf = (model: UpstreamModel, base: UpstreamModel | undefined): UpstreamModel =>
  model.context === null && base !== undefined ? { ...model, context: base.context } : model;

/** Applies the filters of the upstream's file. */
export const filterModels = (models: readonly UpstreamModel[], { include, exclude }: ModelFilter) =>
  models.filter(({ id }) => isWanted(id, include, exclude));

/** A fixed list from an upstream's file. */
export const fixedModels = (ids: readonly string[]): UpstreamModel[] =>
  [...new Set(ids)].map((id) => ({ id, type: null, context: null, created: null }));
