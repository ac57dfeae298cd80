/** What a worker produces from text: an answer, a vector, or a score per document. */
export const WORKER_KINDS = ['chat', 'embedding', 'rerank'] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

/** Tokens that are predicted at once from repeats of the text. */
export const NGRAM_TOKENS = 4;

/** Where a chat worker saves the states of its conversations (docs/spec/contract.md#kv-cache). */
export interface KvCacheConfig {
  /** The folder of all states, which the limits apply to. Nothing is saved once it is gone. */
  root: string;
  /** The folder of the model, in `root`. */
  folder: string;
  maxBytes: number;
  maxStates: number;
  /** True when the states are used after a restart of the gateway. */
  survivesRestart: boolean;
}

/**
 * Configuration of an engine worker. Sent once over IPC, never through argv or the environment, because it
 * contains a key.
 */
export interface WorkerConfig {
  kind: WorkerKind;
  /** Absolute path of the `.gguf` file (of the first part of a split model). */
  modelPath: string;
  /** The id of the served model. */
  modelId: string;
  /** Bearer key that every route except `GET /health` requires. */
  key: string;
  /** Context window of one sequence in tokens. Null: the smaller of the trained window and 8192. */
  context: number | null;
  /**
   * Concurrent requests, at least 1. A chat worker has one sequence per request; the others alternate text by
   * text.
   */
  parallel: number;
  /** CPU threads, always explicit: more threads than free cores slow each other down. */
  threads: number;
  /** Backend. `auto` uses the best that loads and falls back to the CPU; `facts.device` reports it. */
  device: 'auto' | 'cpu' | 'vulkan' | 'cuda';
  /** Layers on the device. Null: the library decides by free memory. */
  gpuLayers: number | null;
  /** Tokens evaluated per step. Null: 512. Workers other than chat evaluate their whole window in one step. */
  batch: number | null;
  /** Requests that may wait for a sequence before 429. */
  queueLimit: number;
  /** Tokens that a chat worker predicts at once from repeats of the text, and then checks in one step. 0: none. */
  ngramTokens: number;
  /** Null: states are not saved. */
  kvCache: KvCacheConfig | null;
}

/** Facts of a loaded model, reported by the engine. */
export interface WorkerInfo {
  /** The active backend: `cpu`, `vulkan`, `cuda` or `metal`. */
  device: string;
  /** Names of the backend's devices; empty on the CPU. */
  deviceNames: string[];
  /** Layers on the device. */
  gpuLayers: number;
  /** Total layers of the model. */
  layers: number;
  /** Context window of one sequence in tokens. */
  context: number;
  /** Trained context window in tokens. Null when the file does not say. */
  contextTrain: number | null;
  parallel: number;
  threads: number;
  architecture: string | null;
  /** True when the file has its own chat template. Otherwise ChatML is used. */
  chatTemplate: boolean;
  /** Bytes of the model tensors. */
  size: number;
}

/**
 * Messages from worker to daemon, in this order: `listening`, any number of `progress`, then `ready` or
 * `failed`, then `restored` for each saved state that a request used. `failed` may also follow later; the process then exits with a non-zero code.
 * At the end a chat worker sends `saving` when it begins to save its conversations and `saved` when they are complete.
 */
export type WorkerMessage =
  | { type: 'listening'; port: number }
  | { type: 'progress'; fraction: number }
  | { type: 'ready'; info: WorkerInfo }
  | { type: 'restored'; tokens: number; bytes: number }
  | { type: 'saving' }
  | { type: 'saved' }
  | { type: 'failed'; reason: string };

/** Body of `GET /health`: 200 with `ok`, 503 with `loading`. */
export interface WorkerHealth {
  status: 'ok' | 'loading';
  /** Requests that hold a sequence. */
  active: number;
  /** Requests that wait for a sequence. */
  queued: number;
  /** Tokens sampled since the start. */
  tokens_generated: number;
  /** Batches decoded since the start, chat workers only. Concurrent requests share batches. */
  batches?: number;
}

/** Exit codes of a worker: ended on request, could not load or broke, started without a parent. */
export const WORKER_EXIT = { ended: 0, failed: 70, misuse: 64 } as const;

/** Time that running requests may take after SIGTERM before they are aborted. */
export const DRAIN_MS = 5_000;
/** Time after SIGTERM or loss of the parent until the process exits by force. It starts again after a save. */
export const FORCE_EXIT_MS = 8_000;
/** Time that the conversations of an engine may take to be saved when it ends. It is killed afterwards. */
export const SAVE_LIMIT_MS = 30_000;
