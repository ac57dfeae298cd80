import type { SlotConfig } from '../config/slot-config.ts';
import type { SlotModel } from '../engines/engine.ts';
import { KEEP_FREE_BYTES } from './eviction.ts';
import { evaluationOf, needOf } from './memory-estimate.ts';

/** Windows that a chat slot without `context` may get, in tokens, largest first. */
const WINDOWS = [131_072, 65_536, 32_768, 16_384, 8192] as const;
const SMALLEST = 8192;
/** The demonstration model stays small: its window is enough for the prompt of a coding agent. */
const DEMO_WINDOW = 32_768;
const BATCH = 512;
/**
 * The share of the total memory that a model with this window may take: other recommended models must fit next to it,
 * and on the host also the owner's own programs.
 */
const SHARES = { card: 0.75, host: 0.5 } as const;

/** The total memory of the device on which a slot runs, in bytes. */
export interface DeviceTotals {
  /** The largest card that the slot may use; null without one. */
  readonly card: number | null;
  readonly host: number;
}

/**
 * Returns the window of a chat slot whose file names none (docs/spec/contract.md#default-context): the largest of 8k to
 * 128k that the model was trained for and that fits the total memory. It depends on nothing that changes between two
 * starts. A smaller trained window is used whole.
 */
export function defaultWindow(
  model: SlotModel,
  { parallel, engine, batch }: Pick<SlotConfig, 'parallel' | 'engine' | 'batch'>,
  { card, host }: DeviceTotals,
): number {
  const trained = model.contextTrain ?? SMALLEST;
  const size = {
    sizeBytes: model.sizeBytes + (model.projectorBytes ?? 0),
    kvBytesPerToken: model.kvBytesPerToken ?? null,
    contextMemory: model.contextMemory ?? null,
    cardBytes: model.cardBytes ?? null,
    embedding: model.embedding ?? null,
    measuredBytes: null,
  };
  const step = batch ?? BATCH;
  const launch = { engine, type: 'llm', sequences: parallel, parallel, batch: step } as const;
  const needed = (context: number, onCard: boolean) =>
    needOf(size, evaluationOf({ ...launch, context }, onCard)).total;
  const smallest = Math.min(SMALLEST, trained);
  if (model.demo) return Math.min(DEMO_WINDOW, trained);
  const isOnCard = card !== null && needed(smallest, true) <= card - KEEP_FREE_BYTES;
  const limit = isOnCard ? card * SHARES.card : host * SHARES.host;
  return WINDOWS.find((window) => window <= trained && needed(window, isOnCard) <= limit) ?? smallest;
}
