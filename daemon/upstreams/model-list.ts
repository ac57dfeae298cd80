import type { SlotTypeName } from '../contract/slots.ts';
import { isWanted } from './globs.ts';

/** One model of an upstream, as far as its list tells. */
export interface UpstreamModel {
  readonly id: string;
  /** Null: the list does not tell. */
  readonly type: SlotTypeName | null;
  /** Window in tokens. */
  readonly context: number | null;
  /** Unix seconds. */
  readonly created: number | null;
  /** Its list says that it sees pictures. */
  readonly vision?: true;
}

/** Models of one upstream that are kept. */
export const MAX_MODELS = 2_000;
const MAX_ID_LENGTH = 256;
const CONTROLS = /[\0-\x1f\x7f]/;

type Json = Record<string, unknown>;
const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

/** What the modality that a record says it makes means for dispatch. */
const BY_OUTPUT: Readonly<Record<string, SlotTypeName>> = {
  text: 'llm',
  embedding: 'embedding',
  embeddings: 'embedding',
  score: 'rerank',
  rerank: 'rerank',
  image: 'image',
  audio: 'tts',
};

/** The records of a list in any of the spellings that servers use; null for something else. */
function records(value: unknown): unknown[] | null {
  const root = asObject(value);
  const list = Array.isArray(value) ? value : (root?.data ?? root?.models);
  return Array.isArray(list) ? list : null;
}

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;

/** vLLM, OpenRouter and others, llama-server: each has its own name for the window. */
function contextOf(record: Json): number | null {
  const meta = asObject(record.meta);
  const places = [record.max_model_len, record.context_length, record.context_window, meta?.n_ctx];
  return places.map(count).find((each) => each !== null) ?? count(meta?.n_ctx_train);
}

function seesPictures(record: Json): boolean {
  const input = asObject(record.architecture)?.input_modalities;
  return Array.isArray(input) && input.includes('image');
}

function typeOf(record: Json): SlotTypeName | null {
  const { input_modalities: input, output_modalities: output } = asObject(record.architecture) ?? {};
  const made = Array.isArray(output) && output.length === 1 ? String(output[0]) : '';
  if (made === 'text' && Array.isArray(input) && input.length === 1 && input[0] === 'audio') return 'stt';
  return Object.hasOwn(BY_OUTPUT, made) ? (BY_OUTPUT[made] as SlotTypeName) : null;
}

/** Names of another gateway of our kind that mean its slots, and what it only passes on from its own upstreams. */
function isForwarded(record: Json): boolean {
  const own = asObject(record._svc);
  return own !== undefined && (own.is_alias === true || own.virtual === true || record.owned_by !== 'svc');
}

function modelOf(value: unknown): UpstreamModel | null {
  const record = typeof value === 'string' ? { id: value } : asObject(value);
  const id = record?.id ?? record?.name;
  if (!record || typeof id !== 'string' || id.trim() === '' || id.length > MAX_ID_LENGTH) return null;
  if (CONTROLS.test(id) || id.startsWith('svc/') || isForwarded(record)) return null;
  const sight = seesPictures(record) ? { vision: true as const } : {};
  return { id, type: typeOf(record), context: contextOf(record), created: count(record.created), ...sight };
}

export interface ModelFilter {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/**
 * The models of a list, each id once, at most 2,000; records that make no sense are passed over. `svc/…` names and the
 * aliases of another svc-gateway are left out, because they mean slots of that gateway, and so is what it only passes
 * on, so that two gateways that know each other never list each other's echo. Null when it is no model list.
 */
export function readModelList(value: unknown): UpstreamModel[] | null {
  const list = records(value);
  if (list === null) return null;
  const found = new Map<string, UpstreamModel>();
  for (const record of list) {
    if (found.size >= MAX_MODELS) break;
    const model = modelOf(record);
    if (model !== null && !found.has(model.id)) found.set(model.id, model);
  }
  return [...found.values()];
}

/** Those that the upstream's file lets in. */
export const filterModels = (models: readonly UpstreamModel[], { include, exclude }: ModelFilter) =>
  models.filter(({ id }) => isWanted(id, include, exclude));

/** A fixed list from an upstream's file. */
export const fixedModels = (ids: readonly string[]): UpstreamModel[] =>
  [...new Set(ids)].map((id) => ({ id, type: null, context: null, created: null }));
