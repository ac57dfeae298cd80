import type { SlotTypeName } from '../../contract/slots.ts';

/**
 * What one `/v1` path means for dispatch (docs/spec/specification.md#dispatch-step-5,
 * docs/spec/contract.md#model-omitted).
 */
export interface PathRow {
  /** Slot for a request without a model; null where a model is required. */
  readonly omitted: string | null;
  /** Slot of the last step, whatever the model is called; null where only the model decides. */
  readonly slot: string | null;
  /** The type of model that can answer. */
  readonly type: SlotTypeName;
}

const row = (omitted: string | null, slot: string | null, type: SlotTypeName): PathRow => ({
  omitted,
  slot,
  type,
});

const RERANK = row('rerank', 'rerank', 'rerank');
const AGENT = row('agent', null, 'llm');

export const PATHS: Readonly<Record<string, PathRow>> = {
  '/chat/completions': AGENT,
  '/completions': AGENT,
  '/responses': AGENT,
  '/messages': AGENT,
  '/messages/count_tokens': AGENT,
  '/realtime': AGENT,
  '/embeddings': row('embed', 'embed', 'embedding'),
  '/rerankings': RERANK,
  '/rerank': RERANK,
  '/reranking': RERANK,
  '/audio/speech': row(null, 'tts', 'tts'),
  '/audio/transcriptions': row(null, 'stt', 'stt'),
  '/images/generations': row(null, 'img', 'image'),
};

/** The rows under both ways to write their paths: a piece of a path would be a new text to look up for each request. */
const ROWS: ReadonlyMap<string, PathRow> = new Map(
  Object.entries(PATHS).flatMap(([path, found]) => [
    [path, found],
    [`/v1${path}`, found],
  ]),
);

/** The row of a path, with or without `/v1` before it; any other path counts as a chat path. */
export const pathRow = (path: string): PathRow => ROWS.get(path) ?? AGENT;

/** Whether a path is one of a request that is dispatched, as a caller writes it. */
export const isDispatched = (path: string): boolean =>
  path.startsWith('/v1/') && Object.hasOwn(PATHS, path.slice('/v1'.length));
