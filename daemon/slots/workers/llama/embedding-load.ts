import type { LlamaModel } from 'node-llama-cpp';
import type { LoadWatch } from '../lifecycle.ts';
import type { WorkerConfig, WorkerFacts } from '../protocol.ts';
import { factsOf, type OpenedModel, openModel } from './load.ts';

/** How a context for whole texts is made: the library wants one token more than the longest text has. */
export interface EncoderSizes {
  contextSize: number;
  batchSize: number;
  threads: number;
  createSignal: AbortSignal;
}

export interface OpenedEncoder<C> extends OpenedModel<C> {
  facts: WorkerFacts;
}

const DEFAULT_CONTEXT = 8_192;

/** Tokens of the longest text: what was asked for, else 8192, but never more than the model has positions for. */
export function encoderWindow(requested: number | null, trained: number): number {
  return Math.min(requested ?? DEFAULT_CONTEXT, trained > 0 ? trained : Number.POSITIVE_INFINITY);
}

/**
 * Loads a model that reads a text whole. Its window is one batch: such a model sees a text from both sides, so a text in
 * two steps would give another result. Throws as {@link openModel} does.
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
  return { ...opened, facts: await factsOf(opened, { context, parallel, threads }) };
}
