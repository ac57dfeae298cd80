import { z } from 'zod';
import type { SamplingDefaults, SamplingField } from '../../../models/sampling-defaults.ts';
import { invalidField } from '../refusal.ts';

/** Settings that decide the next token. */
export interface Sampling {
  temperature: number;
  topP: number;
  topK: number;
  minP: number;
  /** 1 when off. Below 1 the token is chosen here, because the library lacks this sampler. */
  typicalP: number;
  /** Null: a random seed per request. */
  seed: number | null;
  repeatPenalty: number;
  /** Tokens that the three penalties look back at. */
  repeatLast: number;
  presencePenalty: number;
  frequencyPenalty: number;
  /** Added to the logits of tokens, or of each token of a text. `-Infinity` forbids a token. */
  bias: readonly TokenBias[];
  /** Null when off. */
  xtc: { probability: number; threshold: number } | null;
  dry: Dry | null;
}

export interface TokenBias {
  token: number | string;
  logit: number;
}

export interface Dry {
  strength: number;
  base: number;
  allowedLength: number;
  lastTokens: number | null;
  sequenceBreakers: string[] | undefined;
}

const MAX_BIASES = 1_024;
/** A larger window would make the cost of each token grow with the length of the answer. */
const MAX_REPEAT_LAST = 1_024;
const bias = z.union([z.number(), z.literal(false)]);
const logitBias = z.union([
  z.record(z.string(), bias),
  z.array(z.tuple([z.union([z.int().min(0), z.string().min(1)]), bias])).max(MAX_BIASES),
]);

/** The request fields of {@link Sampling}, with the names of OpenAI and llama-server. */
export const samplingFields = {
  temperature: z.number().min(0).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  typical_p: z.number().min(0).max(1).nullish(),
  /** Alias of `typical_p`. */
  typical: z.number().min(0).max(1).nullish(),
  seed: z.number().nullish(),
  repeat_penalty: z.number().positive().nullish(),
  repeat_last_n: z.int().min(0).max(MAX_REPEAT_LAST).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: logitBias.nullish(),
  xtc_probability: z.number().min(0).max(1).nullish(),
  xtc_threshold: z.number().min(0).max(1).nullish(),
  dry_multiplier: z.number().min(0).nullish(),
  dry_base: z.number().min(1).nullish(),
  dry_allowed_length: z.int().min(1).nullish(),
  dry_penalty_last_n: z.int().min(-1).nullish(),
  dry_sequence_breakers: z.array(z.string().min(1).max(256)).max(64).nullish(),
};

type SamplingBody = z.infer<z.ZodObject<typeof samplingFields>>;

/**
 * Returns the requested sampling. Fields that are absent have the value of `defaults`, otherwise llama-server's.
 * Throws a 400 that names the invalid field.
 */
export function sampling(requested: SamplingBody, defaults: SamplingDefaults = {}): Sampling {
  const body = { ...requested };
  for (const [field, value] of Object.entries(defaults) as [SamplingField, number][]) body[field] ??= value;
  return {
    temperature: body.temperature ?? 0.8,
    topP: body.top_p ?? 0.95,
    topK: Math.max(0, body.top_k ?? 40),
    minP: body.min_p ?? 0.05,
    typicalP: body.typical_p ?? body.typical ?? 1,
    seed: body.seed === undefined || body.seed === null || body.seed === -1 ? null : toSeed(body.seed),
    repeatPenalty: body.repeat_penalty ?? 1,
    repeatLast: body.repeat_last_n ?? 64,
    presencePenalty: body.presence_penalty ?? 0,
    frequencyPenalty: body.frequency_penalty ?? 0,
    bias: biases(body.logit_bias ?? {}),
    xtc: xtc(body),
    dry: dry(body),
  };
}

/** Folds any number into the 32 bits that the sampler accepts. */
export function toSeed(seed: number): number {
  return ((Math.floor(seed) % 2 ** 32) + 2 ** 32) % 2 ** 32;
}

function biases(input: z.infer<typeof logitBias>): TokenBias[] {
  const pairs = Array.isArray(input)
    ? input
    : Object.entries(input).map(([key, value]) => [tokenId(key), value] as const);
  if (pairs.length > MAX_BIASES)
    throw invalidField('logit_bias', `logit_bias: at most ${MAX_BIASES} tokens can have a bias`);
  return pairs.map(([token, value]) => ({
    token,
    logit: value === false ? Number.NEGATIVE_INFINITY : value,
  }));
}

function tokenId(key: string): number {
  if (/^\d{1,9}$/.test(key)) return Number(key);
  throw invalidField(
    'logit_bias',
    `logit_bias: ${JSON.stringify(key.slice(0, 50))} is not the id of a token`,
  );
}

function xtc(body: SamplingBody): Sampling['xtc'] {
  const probability = body.xtc_probability ?? 0;
  return probability === 0 ? null : { probability, threshold: body.xtc_threshold ?? 0.1 };
}

function dry(body: SamplingBody): Dry | null {
  const strength = body.dry_multiplier ?? 0;
  if (strength === 0) return null;
  const last = body.dry_penalty_last_n ?? -1;
  return {
    strength,
    base: body.dry_base ?? 1.75,
    allowedLength: body.dry_allowed_length ?? 2,
    lastTokens: last < 0 ? null : last,
    sequenceBreakers: body.dry_sequence_breakers ?? undefined,
  };
}
