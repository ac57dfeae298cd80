import { z } from 'zod';

/** Whether a chat slot predicts tokens, which its model then checks in one step. */
export const SpeculationView = z.object({
  way: z.enum(['off', 'ngram', 'draft', 'mtp']),
  /** Why, as a sentence. */
  reason: z.string(),
});
export type SpeculationView = z.infer<typeof SpeculationView>;
