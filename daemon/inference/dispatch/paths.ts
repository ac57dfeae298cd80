import type { SlotTypeName } from '../../contract/slots.ts';

/**
 * The dispatch rules of one `/v1` path (docs/spec/specification.md#dispatch-step-5,
 * docs/spec/contract.md#model-omitted).
 */
export interface PathRow {
  /** Slot for a request without a model; null where a model is required. */
  readonly omitted: string | null;
  /** Slot of the last step, whatever the model name; null where only the model decides. */
  readonly slot: string | null;
  /** The required type of model. */
  readonly type: SlotTypeName;
  /**
   * Whether another model may serve a request (docs/spec/contract.md#fallbacks). Vectors and token counts of different
   * models cannot be compared, and voices, languages and pictures are properties of a model.
   */
  readonly permitsFallback: boolean;
}

const FALLBACK_TYPES: ReadonlySet<SlotTypeName> = new Set(['llm', 'rerank']);

const row = (omitted: string | null, slot: string | null, type: SlotTypeName): PathRow => ({
  omitted,
  slot,
  type,
  permitsFallback: FALLBACK_TYPES.has(type),
});

const RERANK = row('rerank', 'rerank', 'rerank');
const AGENT = row('agent', null, 'llm');
const COUNT: PathRow = { ...AGENT, permitsFallback: false };

export const PATHS: Readonly<Record<string, PathRow>> = {
  '/chat/completions': AGENT,
  '/chat/completions/input_tokens': COUNT,
  '/completions': AGENT,
  '/responses': AGENT,
  '/messages': AGENT,
  '/messages/count_tokens': COUNT,
  '/realtime': AGENT,
  '/embeddings': row('embed', 'embed', 'embedding'),
  '/rerankings': RERANK,
  '/rerank': RERANK,
  '/reranking': RERANK,
  '/score': RERANK,
  '/audio/speech': row(null, 'tts', 'tts'),
  '/audio/transcriptions': row(null, 'stt', 'stt'),
  '/images/generations': row(null, 'img', 'image'),
};

/** The rows under both spellings of their paths. Slicing a path would create a string per request. */
const ROWS: ReadonlyMap<string, PathRow> = new Map(
  Object.entries(PATHS).flatMap(([path, found]) => [
    [path, found],
    [`/v1${path}`, found],
  ]),
);

/** Returns the row of a path, with or without `/v1`. Any other path counts as a chat path. */
export const pathRow = (path: string): PathRow => ROWS.get(path) ?? AGENT;

/** Returns whether requests of this path are dispatched. */
export const isDispatched = (path: string): boolean =>
  path.startsWith('/v1/') && Object.hasOwn(PATHS, path.slice('/v1'.length));
