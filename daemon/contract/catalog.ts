import { z } from 'zod';
import { SlotType } from './slots.ts';

/**
 * Whether a model could be loaded at this moment: with its usual window at once, with a smaller window at once, after
 * slots have left, or not; `unknown` for models that other programs load.
 */
export const FitBadge = z.enum(['fits', 'fits_with_context', 'needs_eviction', 'does_not_fit', 'unknown']);
export const ModelFit = z.object({
  badge: FitBadge,
  /** The window in tokens that it would run with; null for models without one. */
  context: z.number().int().nullable(),
  /** Slots that would have to leave. */
  evicts: z.array(z.string()),
  /**
   * Bytes that it needs, bytes that one more model may take now (what is kept free and `slots.memory_limit` are off), and the
   * memory (`host`, or the id of a card) that they would be taken from; null when unknown.
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
  /** What `POST /api/models/pull` takes; for `images` what to fetch into the folder of the program that serves it. */
  model: z.string(),
  name: z.string(),
  purpose: Purpose,
  type: SlotType,
  /** Whether a pull of ours can fetch it. */
  pullable: z.boolean(),
  note: z.string(),
  licence: z.string(),
  /** Bytes, as remembered when the list was made: the hub tells the exact number when it is pulled. */
  size_bytes: z.number().int(),
  context_length: z.number().int().nullable(),
  fit: ModelFit,
  /** Id of the registered model that was pulled from the same place; null without one. */
  installed: z.string().nullable(),
});
export const CatalogResponse = z.object({
  /** The day on which the list was written by hand; nothing in it was looked up since. */
  as_of: z.string(),
  entries: z.array(CatalogEntry),
});

export type ModelFitView = z.infer<typeof ModelFit>;
export type PurposeName = z.infer<typeof Purpose>;
export type CatalogView = z.infer<typeof CatalogResponse>;
