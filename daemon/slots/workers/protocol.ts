/** What a worker makes of text: an answer, a vector, or a score for each document. */
export const WORKER_KINDS = ['chat', 'embedding', 'rerank'] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

/** What an engine worker is asked to serve. Sent once over IPC, never through argv or the environment (it holds a key). */
export interface WorkerConfig {
  kind: WorkerKind;
  /** Absolute path of the `.gguf` file (of the first part of a split model). */
  modelPath: string;
  /** The id under which the model answers. */
  modelId: string;
  /** Bearer key that every route but `GET /health` demands. */
  key: string;
  /** Window of one sequence in tokens; null takes the smaller of the trained window and 8192. */
  context: number | null;
  /** Requests served at once, at least 1: each has a sequence of its own in a chat worker, and takes turns text by text in the others. */
  parallel: number;
  /** CPU threads, always explicit: more threads than free cores stall each other. */
  threads: number;
  /** Backend; `auto` takes the best that loads and falls back to the CPU, which `facts.device` tells. */
  device: 'auto' | 'cpu' | 'vulkan' | 'cuda';
  /** Layers placed on the device; null lets the library decide by free memory. */
  gpuLayers: number | null;
  /** Tokens evaluated in one step; null takes 512. A worker that is no chat worker evaluates its whole window in one step. */
  batch: number | null;
  /** Requests that may wait for a sequence before 429. */
  queueLimit: number;
}

/** Facts of a loaded model, as the engine reports them. */
export interface WorkerFacts {
  /** The backend in use: `cpu`, `vulkan`, `cuda` or `metal`. */
  device: string;
  /** Names of the devices of that backend; empty on the CPU. */
  deviceNames: string[];
  /** Layers placed on the device. */
  gpuLayers: number;
  /** All layers of the model. */
  layers: number;
  /** Window of one sequence in tokens. */
  context: number;
  /** Window the model was trained for, in tokens; null when the file does not say. */
  contextTrain: number | null;
  parallel: number;
  threads: number;
  architecture: string | null;
  /** True when the file carries its own chat template; otherwise ChatML is used. */
  chatTemplate: boolean;
  /** Bytes of the model tensors. */
  size: number;
}

/**
 * Worker to daemon, in this order: `listening`, any number of `progress`, then `ready` or `failed`.
 * `failed` may also come later; the process then exits with a code other than 0.
 */
export type WorkerMessage =
  | { type: 'listening'; port: number }
  | { type: 'progress'; fraction: number }
  | { type: 'ready'; facts: WorkerFacts }
  | { type: 'failed'; reason: string };

/** Body of `GET /health`: 200 with `ok`, 503 with `loading`. */
export interface WorkerHealth {
  status: 'ok' | 'loading';
  /** Requests that hold a sequence. */
  active: number;
  /** Requests that wait for one. */
  queued: number;
  /** Tokens sampled since the start. */
  tokens_generated: number;
  /** Batches decoded since the start, of a chat worker: requests at once share them. */
  batches?: number;
}

/** Exit codes of a worker: ended as asked, could not load or broke, or started without a parent. */
export const WORKER_EXIT = { ended: 0, failed: 70, misuse: 64 } as const;

/** After SIGTERM: running answers may finish for this long before they are cut. */
export const DRAIN_MS = 5_000;
/** After SIGTERM or a lost parent: the process ends itself by force when it has not ended by then. */
export const FORCE_EXIT_MS = 8_000;
