import { z } from 'zod';

/** States of a slot; `error` is the spec's ERROR (a parked slot is `error` with `parked: true`). */
export const SLOT_STATES = [
  'offline',
  'pulling',
  'starting',
  'warming',
  'ready',
  'serving',
  'draining',
  'stopping',
  'error',
] as const;
export const SlotState = z.enum(SLOT_STATES);
export const SlotType = z.enum(['llm', 'embedding', 'rerank', 'stt', 'tts', 'image']);
export const SlotName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/);

export const SlotView = z.object({
  name: SlotName,
  enabled: z.boolean(),
  /** Made by the gateway for a model that no slot file names. */
  auto: z.boolean(),
  type: SlotType,
  engine: z.string(),
  runner: z.string(),
  /** The model id that clients use; null while the slot has no model. */
  model: z.string().nullable(),
  /** True while the slot serves the built-in demonstration model. */
  demo: z.boolean(),
  state: SlotState,
  /** Unix milliseconds of the last state change. */
  since: z.number(),
  /** The backend in use once loaded (`cpu`, `vulkan`, `cuda`); null before. */
  device: z.string().nullable(),
  /** Why the slot runs degraded (CPU fallback and the like), else null. */
  degraded: z.string().nullable(),
  /** Window per sequence in tokens, once loaded. */
  context: z.number().int().nullable(),
  parallel: z.number().int(),
  threads: z.number().int().nullable(),
  pid: z.number().int().nullable(),
  active: z.number().int(),
  queued: z.number().int(),
  requests: z.number().int(),
  /** Tokens per second of the last answer. */
  tokens_per_second: z.number().nullable(),
  /** Resident memory of the engine in bytes. */
  memory_bytes: z.number().int().nullable(),
  failure: z
    .object({
      reason: z.string(),
      failures: z.number().int(),
      parked: z.boolean(),
      /** Unix milliseconds of the next automatic try; null when parked. */
      retry_at: z.number().nullable(),
    })
    .nullable(),
});
export const SlotsResponse = z.object({ slots: z.array(SlotView) });

export type SlotStateName = z.infer<typeof SlotState>;
export type SlotTypeName = z.infer<typeof SlotType>;
export type SlotRecord = z.infer<typeof SlotView>;
