import { z } from 'zod';
import { invalidField } from '../refusal.ts';

/** What decides the next token. */
export interface Sampling {
  temperature: number;
  topP: number;
  topK: number;
  minP: number;
  /** Null draws a new one for each request. */
  seed: number | null;
  repeatPenalty: number;
  presencePenalty: number;
  frequencyPenalty: number;
}

/** What one answer is generated with. */
export interface Generation {
  sampling: Sampling;
  /** Most tokens to generate; null until the window is full. */
  maxTokens: number | null;
  stops: string[];
}

export interface AnswerRequest {
  generation: Generation;
  stream: boolean;
  /** Streamed answers end with a usage chunk. */
  includeUsage: boolean;
}

/** llama-server's defaults. */
const DEFAULTS: Sampling = {
  temperature: 0.8,
  topP: 0.95,
  topK: 40,
  minP: 0.05,
  seed: null,
  repeatPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
};

const STOPS_MOST = 64;
const STOP_LONGEST = 4_096;
const stopString = z.string().max(STOP_LONGEST);
const tokenLimit = z.int().nullish();

/** The fields that both routes read; unknown fields pass. */
export const answerFields = {
  temperature: z.number().min(0).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  seed: z.number().nullish(),
  repeat_penalty: z.number().positive().nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  max_tokens: tokenLimit,
  max_completion_tokens: tokenLimit,
  stop: z.union([stopString, z.array(stopString).max(STOPS_MOST)]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).nullish(),
  logprobs: z.union([z.boolean(), z.number()]).nullish(),
  response_format: z.looseObject({ type: z.string() }).nullish(),
};

type AnswerFields = z.infer<z.ZodObject<typeof answerFields>>;

/** Fields whose meaning this engine does not have; asking for it is refused, never ignored. */
const NOT_SUPPORTED: readonly [
  field: keyof AnswerFields,
  asked: (body: AnswerFields) => boolean,
  why: string,
][] = [
  [
    'n',
    (body) => (body.n ?? 1) > 1,
    'more than one choice per request is not supported by the embedded engine',
  ],
  [
    'logprobs',
    (body) => body.logprobs !== undefined && body.logprobs !== null && body.logprobs !== false,
    'log probabilities are not supported by the embedded engine',
  ],
  [
    'response_format',
    (body) => (body.response_format?.type ?? 'text') !== 'text',
    'only the response format "text" is supported by the embedded engine',
  ],
];

/** Checks `body` against `schema`; the first fault becomes a 400 that names the field. */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw invalidField(field, field === '' ? 'the body must be a JSON object' : `${field}: ${issue?.message}`);
}

/** The part of a request that both routes share. Throws a 400 for a field that this engine does not support. */
export function answerRequest(body: AnswerFields): AnswerRequest {
  for (const [field, asked, why] of NOT_SUPPORTED)
    if (asked(body)) throw invalidField(field, `${field}: ${why}`);
  const limit = body.max_completion_tokens ?? body.max_tokens ?? null;
  return {
    generation: {
      sampling: sampling(body),
      maxTokens: limit === null || limit < 0 ? null : limit,
      stops: [body.stop ?? []].flat().filter((stop) => stop !== ''),
    },
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
  };
}

function sampling(body: AnswerFields): Sampling {
  return {
    temperature: body.temperature ?? DEFAULTS.temperature,
    topP: body.top_p ?? DEFAULTS.topP,
    topK: Math.max(0, body.top_k ?? DEFAULTS.topK),
    minP: body.min_p ?? DEFAULTS.minP,
    seed: body.seed === undefined || body.seed === null || body.seed === -1 ? null : toSeed(body.seed),
    repeatPenalty: body.repeat_penalty ?? DEFAULTS.repeatPenalty,
    presencePenalty: body.presence_penalty ?? DEFAULTS.presencePenalty,
    frequencyPenalty: body.frequency_penalty ?? DEFAULTS.frequencyPenalty,
  };
}

/** Folds any number into the 32 bits that the sampler takes. */
function toSeed(seed: number): number {
  return ((Math.floor(seed) % 2 ** 32) + 2 ** 32) % 2 ** 32;
}
