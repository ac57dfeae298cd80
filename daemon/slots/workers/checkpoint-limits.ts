const MIB = 1024 * 1024;

/**
 * Bounds of the checkpoints that the engine takes of a sequence, for models whose cache cannot go back (sliding windows
 * and recurrent states). The library's own default is 32 checkpoints of any size, every 8,192 tokens.
 */
export const CHECKPOINT_LIMITS = { max: 8, interval: 2048, maxMemory: 256 * MIB } as const;

/** Returns how many checkpoints of this size one sequence may have, at least one. */
export const maxCheckpoints = (bytes: number): number =>
  bytes === 0
    ? CHECKPOINT_LIMITS.max
    : Math.max(1, Math.min(CHECKPOINT_LIMITS.max, Math.floor(CHECKPOINT_LIMITS.maxMemory / bytes)));

/**
 * Returns the bytes that the checkpoints of one sequence take at most, for this size of one checkpoint: one at each
 * whole interval of the window, and one where a prefix was evaluated again.
 */
export const checkpointsBytes = (bytes: number, context: number): number =>
  Math.min(maxCheckpoints(bytes), 1 + Math.floor(context / CHECKPOINT_LIMITS.interval)) * bytes;

const MAX_PROMPT_CACHE_BYTES = 512 * MIB;
const MIN_PROMPT_CACHE_BYTES = 64 * MIB;

/**
 * Returns the bytes that llama-server may use for the states of earlier conversations: two of this size, within bounds.
 * Its own default is 8 GiB.
 */
export const promptCacheBytes = (sequenceBytes: number): number =>
  Math.min(MAX_PROMPT_CACHE_BYTES, Math.max(MIN_PROMPT_CACHE_BYTES, 2 * sequenceBytes));
