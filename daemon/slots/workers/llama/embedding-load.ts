import type { LlamaModel } from 'node-llama-cpp';
import type { LoadWatch } from '../lifecycle.ts';
import type { WorkerConfig, WorkerInfo } from '../protocol.ts';
import { type OpenedModel, openModel, workerInfo } from './load.ts';

/** How to create a context for whole texts. The library needs one token more than the longest text has. */
export interface EncoderSizes {
  contextSize: number;
  batchSize: number;
  threads: number;
  createSignal: AbortSignal;
}

export interface OpenedEncoder<C> extends OpenedModel<C> {
  info: WorkerInfo;
}

const DEFAULT_CONTEXT = 8_192;

/** Tokens of the longest text: the requested number or 8192, limited to the model's positions. */
export function encoderWindow(requested: number | null, trained: number): number {
  return Math.min(requested ?? DEFAULT_CONTEXT, trained > 0 ? trained : Number.POSITIVE_INFINITY);
}

/**
 * Loads a model that returns one result for a whole text. Without `batch` its window is one step: with bidirectional
 * attention, two steps would change the result. Throws like {@link openModel}.
 */
export async function openEncoder<C>(
  config: WorkerConfig,
  watch: LoadWatch,
  makeContext: (model: LlamaModel, sizes: EncoderSizes) => Promise<C>,
): Promise<OpenedEncoder<C>> {
  let context = 0;
  const placed = { contextSize: config.context ?? DEFAULT_CONTEXT, embeddingContext: true };
  const opened = await openModel(config, watch, placed, (model) => {
    context = encoderWindow(config.context, model.trainContextSize);
    const { threads } = config;
    const batchSize = Math.min(config.batch ?? context, context);
    const sizes = { contextSize: context + 1, batchSize, threads, createSignal: watch.signal };
    return makeContext(model, sizes);
  });
  const { parallel, threads } = config;
  return { ...opened, info: await workerInfo(opened, { context, parallel, threads }) };
}
