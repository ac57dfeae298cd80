/** Maximum bytes of one image: 2048 × 2048 in four uncompressed channels, plus a margin. */
export const MAX_IMAGE_BYTES = 32 * 1024 * 1024;
/** Maximum bytes of all images of one response. */
export const MAX_RESPONSE_BYTES = 192 * 1024 * 1024;
/** Maximum side of an engine's image, in pixels. */
export const MAX_SIDE = 4096;
/**
 * Maximum time for one request, waiting in the engine's own queue included
 * (docs/spec/contract.md#image-limit).
 */
export const DRAW_LIMIT_MS = 600_000;
