import { hasCache } from '../../models/context-memory.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { commonLaunch, loadLimitMs } from './common.ts';
import type { Dialect, Launch, LaunchParams, SlotModel } from './engine.ts';

/** Context window in tokens when neither slot nor model limits it further. */
const DEFAULT_CONTEXT = 8192;
/** Tokens that a chat model evaluates in one step. */
const CHAT_BATCH = 512;
/**
 * Tokens that a decoder for vectors or scores evaluates in one step at most: it has a row of logits for each of them,
 * which is gigabytes for a whole window.
 */
const DECODER_BATCH = 2048;

/**
 * Returns the context window of a GGUF model, in tokens per sequence: the one of the slot, at most what the model
 * was trained for.
 */
export function windowOf(config: SlotConfig, model: SlotModel): number {
  const trained = model.contextTrain ?? DEFAULT_CONTEXT;
  return Math.min(config.context ?? defaultWindow(config, model), trained);
}

/** Returns whether a model evaluates a text that is longer than one step. llama-server ranks each text in one step. */
const canSplit = ({ type, engine }: SlotConfig, model: SlotModel): boolean =>
  type === 'llm' || (model.readsInSteps === true && !(type === 'rerank' && engine === 'llama-server'));

function defaultWindow(config: SlotConfig, model: SlotModel): number {
  if (config.type === 'llm') return model.defaultContext ?? DEFAULT_CONTEXT;
  const isDecoder = model.contextMemory != null && hasCache(model.contextMemory);
  return isDecoder && !canSplit(config, model) ? DECODER_BATCH : DEFAULT_CONTEXT;
}

/** Returns the tokens of one step: of an encoder, and of a decoder that cannot split a text, the whole window. */
function batchOf(config: SlotConfig, model: SlotModel, context: number): number {
  if (config.type === 'llm') return Math.min(config.batch ?? CHAT_BATCH, context);
  return canSplit(config, model) ? Math.min(DECODER_BATCH, context) : context;
}

function reducedWindow(config: SlotConfig, context: number): string | null {
  if (config.context === null || config.context <= context) return null;
  return `The window is ${context} tokens instead of ${config.context}: the model was trained for no more.`;
}

/** Returns the launch of a GGUF model on this machine. */
export function ggufLaunch(params: LaunchParams, dialect: Dialect): Omit<Launch, 'how'> {
  const { config, model } = params;
  const context = windowOf(config, model);
  return {
    ...commonLaunch(params, dialect),
    context,
    sequences: config.type === 'llm' ? config.parallel : 1,
    batch: batchOf(config, model, context),
    startLimitMs: loadLimitMs(model.sizeBytes),
    degraded: reducedWindow(config, context),
  };
}
