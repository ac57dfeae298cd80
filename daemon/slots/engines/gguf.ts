import type { SlotConfig } from '../config/slot-config.ts';
import { commonLaunch, loadLimitMs } from './common.ts';
import type { Dialect, Launch, LaunchParams, SlotModel } from './engine.ts';

/** Context window in tokens when neither slot nor model limits it further. */
const DEFAULT_CONTEXT = 8192;
/** Tokens that a chat model evaluates in one step. */
const CHAT_BATCH = 512;

/**
 * Returns the context window of a GGUF model, in tokens per sequence: the one of the slot, at most what the model
 * was trained for.
 */
export function windowOf(config: SlotConfig, model: SlotModel): number {
  const trained = model.contextTrain ?? DEFAULT_CONTEXT;
  const wanted =
    config.context ?? (config.type === 'llm' ? model.defaultContext : undefined) ?? DEFAULT_CONTEXT;
  return Math.min(wanted, trained);
}

function reducedWindow(config: SlotConfig, context: number): string | null {
  if (config.context === null || config.context <= context) return null;
  return `The window is ${context} tokens instead of ${config.context}: the model was trained for no more.`;
}

/**
 * Returns the launch of a GGUF model on this machine. A model that is not a chat model evaluates its whole window
 * in one step.
 */
export function ggufLaunch(params: LaunchParams, dialect: Dialect): Omit<Launch, 'how'> {
  const { config, model } = params;
  const context = windowOf(config, model);
  const chat = config.type === 'llm';
  return {
    ...commonLaunch(params, dialect),
    context,
    sequences: chat ? config.parallel : 1,
    batch: chat ? Math.min(config.batch ?? CHAT_BATCH, context) : context,
    startLimitMs: loadLimitMs(model.sizeBytes),
    degraded: reducedWindow(config, context),
  };
}
