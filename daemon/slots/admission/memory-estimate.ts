import { type ContextMemory, cacheBytes, checkpointBytes } from '../../models/context-memory.ts';
import { CHECKPOINT_LIMITS } from '../workers/checkpoint-limits.ts';

const MIB = 1024 * 1024;
/** Bytes that the engine's process takes in addition to weights, context window and compute buffers. */
const ENGINE_BYTES = 160 * MIB;
/** The properties of a model that decide how much memory it needs; null means unknown. */
export interface ModelSize {
  readonly sizeBytes: number;
  /** Bytes of keys and values for one token of the window, over all layers. */
  readonly kvBytesPerToken: number | null;
  /** What the context takes; null when the header does not say. */
  readonly contextMemory: ContextMemory | null;
  /** Bytes of the weights that a card holds; null when unknown. */
  readonly cardBytes: number | null;
  /** Embedding width of the model, in values. */
  readonly embedding: number | null;
  /** Bytes measured on this machine when the model ran with these settings. */
  readonly measuredBytes: number | null;
}

/** The parts of the estimate, in bytes. */
export interface Need {
  readonly weights: number;
  readonly window: number;
  readonly compute: number;
  readonly engine: number;
  /** The measured bytes, otherwise the sum of the parts. */
  readonly total: number;
  readonly source: 'estimated' | 'measured';
}

/** Bytes of the intermediate results of one token, per value of the embedding. */
const COMPUTE_BYTES_PER_VALUE = 32;
const LOGIT_BYTES = 4;
/** Bytes of the attention mask, per token of a step and cell of the cache. */
const MASK_BYTES = 2;

/**
 * How a model is evaluated: the window in tokens per sequence, the number of sequences, and the tokens of one step,
 * which decide the size of the compute buffers.
 */
export interface Evaluation {
  readonly context: number;
  readonly sequences: number;
  readonly batch: number;
  /** Rows of logits that are kept for one step. Default: one for each token of the step. */
  readonly outputs?: number;
  /** Whether the memory of a card counts, which holds no token tables and no checkpoints. Default false. */
  readonly onCard?: boolean;
}

/** Returns the bytes of the window for one token; an estimate by size when the header does not contain it. */
const windowPerToken = (model: ModelSize): number =>
  model.kvBytesPerToken ?? Math.min(256 * 1024, Math.max(1024, model.sizeBytes / 40_000));

/** Returns the bytes of the window with its checkpoints, which models that cannot go back in their cache need. */
function windowBytes(memory: ContextMemory, { context, sequences, batch, onCard }: Evaluation): number {
  const perSequence = cacheBytes(memory, context, batch);
  const perCheckpoint = checkpointBytes(memory, context, batch);
  const checkpoints = onCard
    ? 0
    : Math.min(CHECKPOINT_LIMITS.maxMemory, CHECKPOINT_LIMITS.max * perCheckpoint);
  return sequences * (perSequence + checkpoints);
}

/** Returns the bytes of the compute buffers: logits, intermediate results and the attention mask. */
function computeBytes(model: ModelSize, memory: ContextMemory, evaluation: Evaluation): number {
  const { context, batch } = evaluation;
  const step = Math.min(batch, context);
  const logits = LOGIT_BYTES * memory.vocabulary * Math.min(evaluation.outputs ?? step, step);
  return logits + COMPUTE_BYTES_PER_VALUE * (model.embedding ?? 1024) * step + MASK_BYTES * context * step;
}

/** Returns the sum of the parts, ignoring any measurement. */
export const estimateOf = ({ weights, window, compute, engine }: Need): number =>
  weights + window + compute + engine;

/**
 * Returns the memory that a model needs with this evaluation (docs/spec/contract.md#admission). Without the sizes of
 * the header, window and buffers are estimated from the file.
 */
export function needOf(model: ModelSize, evaluation: Evaluation): Need {
  const { context, sequences, batch, onCard } = evaluation;
  const { contextMemory, measuredBytes } = model;
  const weights = onCard ? (model.cardBytes ?? model.sizeBytes) : model.sizeBytes;
  const window =
    contextMemory === null
      ? Math.ceil(windowPerToken(model) * context * sequences)
      : windowBytes(contextMemory, evaluation);
  const compute =
    contextMemory === null
      ? (model.embedding ?? 1024) * batch * COMPUTE_BYTES_PER_VALUE
      : computeBytes(model, contextMemory, evaluation);
  const estimated = {
    weights,
    window,
    compute,
    engine: ENGINE_BYTES,
    total: 0,
    source: 'estimated',
  } as const;
  if (measuredBytes !== null) return { ...estimated, total: measuredBytes, source: 'measured' };
  return { ...estimated, total: estimateOf(estimated) };
}
