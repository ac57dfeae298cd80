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
 * Loads a model that reads a text as a whole. Its window is one batch: attention is bidirectional, so
 * evaluating a text in two steps would change the result. Throws like {@link openModel}.
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
    const sizes = { contextSize: context + 1, batchSize: context, threads, createSignal: watch.signal };
    return makeContext(model, sizes);
  });
  const { parallel, threads } = config;
  return { ...opened, info: await workerInfo(opened, { context, parallel, threads }) };
}
