/**
 * Bounds of the checkpoints that the engine takes of a sequence, for models whose cache cannot go back (sliding windows
 * and recurrent states). The library's own default is 32 checkpoints of any size, every 8,192 tokens.
 */
export const CHECKPOINT_LIMITS = { max: 8, interval: 2048, maxMemory: 256 * 1024 * 1024 } as const;
