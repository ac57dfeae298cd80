import type { SlotPlanView } from '../../contract/slots.ts';
import { type ContextMemory, cacheBytes, checkpointBytes } from '../../models/context-memory.ts';
import {
  isConfirmed,
  type SimulatedContext,
  simulatedStepBytes,
  simulatedWindowBytes,
} from '../../models/simulated-context.ts';
import type { EngineMemory, Launch } from '../engines/engine.ts';
import { checkpointsBytes, promptCacheBytes } from '../workers/checkpoint-limits.ts';

const MIB = 1024 * 1024;
/**
 * Bytes that the process of an engine takes in addition to weights, context window and compute buffers: on a card, or
 * with an unknown vocabulary, and on the CPU next to the tokens (docs/adr/0085-the-engine-loads-a-model-once.md).
 */
const ENGINE_BYTES = { usual: 160 * MIB, withoutTokens: 62 * MIB } as const;
/** The properties of a model that decide how much memory it needs; null means unknown. */
export interface ModelSize {
  readonly sizeBytes: number;
  /** Bytes of keys and values for one token of the window, over all layers. */
  readonly kvBytesPerToken: number | null;
  /** What the context takes; null when the header does not say. */
  readonly contextMemory: ContextMemory | null;
  /** What llama.cpp says about its contexts; absent, null or empty when it does not. */
  readonly simulated?: SimulatedContext | null;
  /** Bytes of the weights that a card holds; null when unknown. */
  readonly cardBytes: number | null;
  /** Embedding width of the model, in values. */
  readonly embedding: number | null;
  /** Bytes measured on this machine when the model ran with these settings. */
  readonly measuredBytes: number | null;
}

/** Where a need comes from: key `memory` of the slot file, a measurement on this machine, or the estimate. */
export type NeedSource = SlotPlanView['need']['source'];

/** The parts of the estimate, in bytes. */
export interface Need {
  readonly weights: number;
  readonly window: number;
  readonly compute: number;
  readonly engine: number;
  /** Bytes on the host in addition to `total` on the card: experts, or a program and its libraries. */
  readonly host: number;
  /** The bytes of the slot file, otherwise the measured ones, otherwise the sum of the parts. */
  readonly total: number;
  readonly source: NeedSource;
}

/** Bytes of the intermediate results of one token, per value of the embedding, for a model without sizes. */
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
  /** Rows of logits that are computed for one step. Default: one for each token of the step. */
  readonly outputs?: number;
  /** Whether each token of a step has a row in the output buffer of the host. Default false. */
  readonly returnsVectors?: boolean;
  /** Whether the memory of a card counts, which holds no token tables and no checkpoints. Default false. */
  readonly onCard?: boolean;
  /** Bytes of experts that stay on the host. Default 0. */
  readonly expertBytes?: number;
  /** Cells that the engine adds to the step of a sliding window. Default 1. */
  readonly spareCells?: number;
  /** Whether the engine keeps the states of earlier conversations in memory. Default false. */
  readonly hasPromptCache?: boolean;
  /** Tokens that are predicted ahead. Default 0. */
  readonly draftTokens?: number;
}

/** The values of a launch that decide its memory. */
export type EvaluatedLaunch = Pick<
  Launch,
  'engine' | 'type' | 'context' | 'sequences' | 'parallel' | 'batch' | 'draftTokens'
>;

/**
 * Returns how a launch evaluates its model. A chat computes logits for the last token of each sequence. On a card the
 * embedded engine allocates them for each token of a step; on the CPU memory that is never written takes nothing. An
 * engine that returns vectors computes them for each token.
 */
export function evaluationOf(launch: EvaluatedLaunch, onCard: boolean): Evaluation {
  const { context, sequences, batch, draftTokens = 0 } = launch;
  const isServer = launch.engine === 'llama-server';
  const isChat = launch.type === 'llm';
  const computesLast = isChat && (isServer || !onCard);
  return {
    ...{ context, sequences, batch, onCard, draftTokens },
    outputs: computesLast ? launch.parallel * (1 + draftTokens) : batch,
    returnsVectors: !isChat,
    spareCells: isServer ? 0 : 1,
    hasPromptCache: isServer && isChat,
  };
}

/** Returns the bytes of the window for one token; an estimate by size when the header does not contain it. */
const windowPerToken = (model: ModelSize): number =>
  model.kvBytesPerToken ?? Math.min(256 * 1024, Math.max(1024, model.sizeBytes / 40_000));

/** Returns the bytes of the window with its checkpoints, which models that cannot go back in their cache need. */
function windowBytes(model: ModelSize, evaluation: Evaluation): number {
  const { context, sequences, batch, onCard, spareCells = 1, hasPromptCache, draftTokens } = evaluation;
  const { contextMemory: memory, simulated } = model;
  const isSimulated = simulated != null && simulated.length > 0;
  if (isSimulated && (memory === null || !isConfirmed(memory, simulated)))
    return sequences * simulatedWindowBytes(simulated, context);
  if (memory === null) return Math.ceil(windowPerToken(model) * context * sequences);
  const step = { context, stepCells: batch + spareCells, draftTokens };
  const perSequence = cacheBytes(memory, step);
  if (onCard) return sequences * perSequence;
  const checkpoints = checkpointsBytes(checkpointBytes(memory, context), context);
  return sequences * (perSequence + checkpoints) + (hasPromptCache ? promptCacheBytes(perSequence) : 0);
}

/**
 * Returns the bytes of the compute buffers: logits, intermediate results and the attention mask. The simulation is of
 * the CPU with logits for each token of a step. With fewer, the widest layer may decide.
 */
function computeBytes(model: ModelSize, evaluation: Evaluation): number {
  const { contextMemory: memory, simulated } = model;
  const { context, batch, onCard, returnsVectors } = evaluation;
  const step = Math.min(batch, context);
  const rows = Math.min(evaluation.outputs ?? step, step);
  const logits = LOGIT_BYTES * (memory?.vocabulary ?? 0) * rows;
  const mask = MASK_BYTES * context * step;
  const widest = rows < step ? (memory?.networkBytes ?? 0) * step + mask : 0;
  const output = returnsVectors && !onCard ? (memory?.outputBytes ?? 0) * step : 0;
  if (simulated != null && simulated.length > 0 && !onCard)
    return Math.max(logits + Math.ceil(simulatedStepBytes(simulated, context) * step), widest) + output;
  if (memory === null) return (model.embedding ?? 1024) * batch * COMPUTE_BYTES_PER_VALUE;
  return Math.max(logits + memory.stepBytes * step, memory.networkBytes * step) + mask + output;
}

/** Returns the bytes of the engine's process next to weights, window and buffers. */
function engineBytes({ contextMemory: memory }: ModelSize, { onCard }: Evaluation): number {
  const tokens = memory?.tokenizerBytes ?? 0;
  return onCard || tokens === 0 ? ENGINE_BYTES.usual : ENGINE_BYTES.withoutTokens + tokens;
}

/** Returns the sum of the parts, ignoring any measurement. */
export const estimateOf = ({
  weights,
  window,
  compute,
  engine,
}: Pick<Need, 'weights' | 'window' | 'compute' | 'engine'>): number => weights + window + compute + engine;

/**
 * Returns the memory that a model needs with this evaluation (docs/spec/contract.md#admission): by the sizes of the
 * header, and by what llama.cpp says about the CPU where the model was simulated. Without both, window and buffers are
 * estimated from the file.
 */
export function needOf(model: ModelSize, evaluation: Evaluation): Need {
  const { onCard } = evaluation;
  const { measuredBytes } = model;
  const host = onCard ? (evaluation.expertBytes ?? 0) : 0;
  const weights = onCard ? (model.cardBytes ?? model.sizeBytes) - host : model.sizeBytes;
  const window = windowBytes(model, evaluation);
  const compute = computeBytes(model, evaluation);
  const estimated = {
    weights,
    window,
    compute,
    engine: engineBytes(model, evaluation),
    host,
    total: 0,
    source: 'estimated',
  } as const;
  if (measuredBytes !== null) return { ...estimated, total: measuredBytes, source: 'measured' };
  return { ...estimated, total: estimateOf(estimated) };
}

/**
 * Returns the memory that a program needs by the rule of its engine. `cardBytes` is the size of the whole card, null when
 * unknown and on the host.
 */
export function programNeed(
  { cardShare, host = 0, ...parts }: EngineMemory,
  { cardBytes, measuredBytes }: { readonly cardBytes: number | null; readonly measuredBytes: number | null },
): Need {
  const sum = estimateOf(parts);
  const share = cardShare === undefined || cardBytes === null ? 0 : Math.ceil(cardShare * cardBytes);
  // What a share leaves beside the weights is its cache for contexts.
  const window = share === 0 ? parts.window : Math.max(0, share - (sum - parts.window));
  const estimated = { ...parts, window, host, total: share || sum, source: 'estimated' } as const;
  return measuredBytes === null ? estimated : { ...estimated, total: measuredBytes, source: 'measured' };
}
