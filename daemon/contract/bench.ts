import { z } from 'zod';

/** The speed of a model behind a prompt of one length. */
export const BenchPoint = z.object({
  /** Tokens of the prompt that were evaluated. */
  prompt_tokens: z.int(),
  /** Prompt tokens per second. */
  prompt_per_second: z.number(),
  generated_tokens: z.int(),
  /** Generated tokens per second. */
  generated_per_second: z.number(),
});

const Ahead = z.object({ off: z.number(), ngram: z.number() });
/** Generated tokens per second without and with predictions from repeats of the text. */
export const NgramSpeed = z.object({
  /** For a response that repeats the prompt, such as an edit of code. */
  repeats: Ahead,
  /** For other text. */
  plain: Ahead,
});

export const BenchRequest = z.strictObject({
  /** Id of a chat model or name of a slot. */
  model: z.string().min(1).max(512).default('agent'),
});

/** The measured speed of a model on this machine, one request at a time, at three lengths of the prompt. */
export const BenchResult = z.object({
  model: z.string(),
  slot: z.string(),
  /** Id of the memory pool in which it ran (`GET /api/hardware`). */
  pool: z.string(),
  /** Unix milliseconds. */
  measured_at: z.number(),
  points: z.array(BenchPoint),
  /** The device of the slot file, which the next figures belong to. */
  device: z.string().default('auto'),
  /** Null for an engine other than the embedded one. */
  ngram: NgramSpeed.nullable().default(null),
});

export type BenchPointView = z.infer<typeof BenchPoint>;
export type NgramSpeedView = z.infer<typeof NgramSpeed>;
export type BenchRequestBody = z.infer<typeof BenchRequest>;
export type BenchResultView = z.infer<typeof BenchResult>;
