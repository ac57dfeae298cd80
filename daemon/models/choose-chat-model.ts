import { cacheBytes } from './context-memory.ts';
import type { RegisteredModel } from './registered-model.ts';
import { isEmbeddedChat } from './unusable-formats.ts';

/** Context window assumed for a first load, in tokens. */
const WINDOW = 4096;
/** Tokens of one step, for each of which the engine keeps a row of logits. */
const BATCH = 512;
const LOGIT_BYTES = 4;
/** Memory for buffers and the engine itself. */
const ENGINE_BYTES = 512 * 1024 * 1024;

/** Estimates the bytes that a chat model needs with an ordinary window. */
export function estimateBytes(model: RegisteredModel): number {
  const window = Math.min(model.contextTrain ?? WINDOW, WINDOW);
  const { contextMemory } = model;
  const cache =
    contextMemory === null
      ? (model.kvBytesPerToken ?? 0) * window
      : cacheBytes(contextMemory, { context: window, stepCells: BATCH + 1 }) +
        LOGIT_BYTES * contextMemory.vocabulary * BATCH;
  return model.sizeBytes + cache + ENGINE_BYTES;
}

const bySize = (a: RegisteredModel, b: RegisteredModel) =>
  b.sizeBytes - a.sizeBytes || (a.id < b.id ? -1 : 1);

/**
 * Returns the model of slot `agent` when its file names none: the largest real chat model that fits
 * (docs/spec/contract.md#agent-model), models with their own chat template first. When none fits, it is the
 * smallest, so that admission can report what is missing. Without a real model it is the demonstration model,
 * otherwise null. `memoryBytes` is the memory that the machine has at most, null = unknown.
 */
export function chooseChatModel(
  models: readonly RegisteredModel[],
  memoryBytes: number | null,
): RegisteredModel | null {
  const chat = models.filter(isEmbeddedChat);
  const real = chat.filter(({ demo }) => !demo);
  if (real.length === 0) return chat[0] ?? null;
  const talking = real.filter(({ chatTemplate }) => chatTemplate);
  const candidates = (talking.length > 0 ? talking : real).sort(bySize);
  return (
    candidates.find((model) => memoryBytes === null || estimateBytes(model) <= memoryBytes) ??
    candidates.at(-1) ??
    null
  );
}
