/** Most bytes of one picture: 2048 × 2048 in four channels, not compressed at all, with room to spare. */
export const MAX_IMAGE_BYTES = 32 * 1024 * 1024;
/** Most bytes of all pictures of one answer. */
export const MAX_RESPONSE_BYTES = 192 * 1024 * 1024;
/** Longest side that an engine may answer with, in pixels. */
export const MAX_SIDE = 4096;
/**
 * Maximum time for one request, waiting in the engine's own queue included
 * (docs/spec/contract.md#image-limit).
 */
export const DRAW_LIMIT_MS = 600_000;
