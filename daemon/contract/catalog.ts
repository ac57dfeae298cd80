import { z } from 'zod';
import { SlotType } from './slots.ts';

/**
 * Whether a model could be loaded now: with its usual context, with a smaller context, after unloading slots,
 * or not. `unknown` for models that other programs load.
 */
export const FitBadge = z.enum(['fits', 'fits_with_context', 'needs_eviction', 'does_not_fit', 'unknown']);
export const ModelFit = z.object({
  badge: FitBadge,
  /** The window in tokens that it would run with; null for models without one. */
  context: z.number().int().nullable(),
  /** Slots that would have to leave. */
  evicts: z.array(z.string()),
  /**
   * Bytes that it needs; bytes available for one more model (without reserve and `slots.memory_limit`); and
   * the memory pool (`host`, or the id of a GPU). Null when unknown.
   */
  needed: z.number().nullable(),
  free: z.number().nullable(),
  pool: z.string().nullable(),
});

export const Purpose = z.enum([
  'chat',
  'coding',
  'small',
  'embedding',
  'rerank',
  'hearing',
  'speaking',
  'images',
]);
export const CatalogEntry = z.object({
  /** Value for `POST /api/models/pull`. For `images`, the file for the folder of the program that serves it. */
  model: z.string(),
  name: z.string(),
  purpose: Purpose,
  type: SlotType,
  /** Whether the gateway can download it. */
  pullable: z.boolean(),
  note: z.string(),
  licence: z.string(),
  /** Size in bytes when the list was written. The hub gives the exact size at the download. */
  size_bytes: z.number().int(),
  context_length: z.number().int().nullable(),
  fit: ModelFit,
  /** Id of the registered model that was pulled from the same repository; null without one. */
  installed: z.string().nullable(),
});
export const CatalogResponse = z.object({
  /** The day on which the list was written by hand. It is not updated automatically. */
  as_of: z.string(),
  entries: z.array(CatalogEntry),
});

export type ModelFitView = z.infer<typeof ModelFit>;
export type PurposeName = z.infer<typeof Purpose>;
export type CatalogView = z.infer<typeof CatalogResponse>;
