import { z } from 'zod';

/** Where the states of conversations are saved when their model is unloaded. */
const PERSIST_MODES = ['off', 'memory', 'disk'] as const;
export type PersistMode = (typeof PERSIST_MODES)[number];

/** The saved states of conversations (docs/spec/contract.md#kv-cache). */
export const KvCacheView = z.object({
  persist: z.enum(PERSIST_MODES),
  /** Why nothing can be saved although it is on; null when it can. */
  problem: z.string().nullable(),
  states: z.int(),
  bytes: z.int(),
  max_bytes: z.int(),
  /** Requests that used a saved state since the gateway started, and the tokens that were not computed again. */
  hits: z.int(),
  restored_tokens: z.int(),
  /** Slots whose engines cannot restore what they save, and why. */
  unsupported: z.array(z.object({ slot: z.string(), model: z.string(), reason: z.string() })),
  models: z.array(
    z.object({
      model: z.string(),
      states: z.int(),
      bytes: z.int(),
      /** Unix milliseconds. */
      last_used_at: z.number(),
    }),
  ),
});
export type KvCacheView = z.infer<typeof KvCacheView>;

export const KvCacheCleared = z.object({ deleted: z.int(), bytes: z.int() });
export type KvCacheCleared = z.infer<typeof KvCacheCleared>;
