import { hasCache } from '../../models/context-memory.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { commonLaunch, loadLimitMs } from './common.ts';
import type { Dialect, Launch, LaunchParams, SlotModel } from './engine.ts';
import { speculationOf } from './speculation.ts';

/** Context window in tokens when neither slot nor model limits it further. */
const DEFAULT_CONTEXT = 8192;
/** Tokens that a chat model evaluates in one step. */
const CHAT_BATCH = 512;
/** Tokens that a decoder for vectors or scores evaluates in one step: it has two rows of logits for each of them. */
const DECODER_BATCH = 512;
/** Window of such a decoder when it cannot split a text. */
const DECODER_WINDOW = 2048;
/** Bytes of the output buffer up to which an encoder gets a larger window, and the window that it always gets. */
const MAX_OUTPUT_BYTES = 1024 ** 3;
const MIN_ENCODER_WINDOW = 512;

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
  const { contextMemory: memory = null } = model;
  if (config.type === 'llm') return model.defaultContext ?? DEFAULT_CONTEXT;
  if (memory === null) return DEFAULT_CONTEXT;
  if (hasCache(memory)) return canSplit(config, model) ? DEFAULT_CONTEXT : DECODER_WINDOW;
  return encoderWindow(memory.outputBytes);
}

/** Returns the largest window by powers of two whose outputs stay within a limit. A large vocabulary decides. */
function encoderWindow(outputBytes: number): number {
  let window = DEFAULT_CONTEXT;
  while (window > MIN_ENCODER_WINDOW && window * outputBytes > MAX_OUTPUT_BYTES) window /= 2;
  return window;
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
  const speculation = speculationOf(config, model);
  return {
    ...commonLaunch(params, dialect),
    ...(speculation === undefined ? {} : { speculation }),
    context,
    sequences: config.type === 'llm' ? config.parallel : 1,
    batch: batchOf(config, model, context),
    startLimitMs: loadLimitMs(model.sizeBytes),
    degraded: reducedWindow(config, context),
  };
}
