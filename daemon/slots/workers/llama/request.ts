import { z } from 'zod';
import { zodMessage } from '../../../contract/zod-message.ts';
import type { SamplingDefaults } from '../../../models/sampling-defaults.ts';
import { invalidField } from '../refusal.ts';
import { refuseFields } from './refused-fields.ts';
import { type Sampling, sampling, samplingFields } from './sampling.ts';
import { structureFields } from './structure.ts';

/** The settings of one answer. */
export interface Generation {
  sampling: Sampling;
  /** Maximum number of generated tokens. Null: until the window is full. */
  maxTokens: number | null;
  stops: string[];
  /** Alternatives per token. Null: no probabilities. */
  logprobs: number | null;
  /** GBNF that the text must match, and the request field it comes from. */
  grammar: { text: string; param: string } | null;
  /** Whether tokens are predicted from repeats of the text; null: as the slot is set up. */
  speculation: 'off' | 'ngram' | null;
}

export interface AnswerRequest {
  generation: Generation;
  /** Choices per prompt. */
  n: number;
  stream: boolean;
  /** True: a streamed answer ends with a usage chunk. */
  includeUsage: boolean;
}

const MAX_STOPS = 64;
const MAX_STOP_CHARS = 4_096;
const MAX_CHOICES = 128;
const stopString = z.string().max(MAX_STOP_CHARS);
const tokenLimit = z.int().nullish();

/** The fields that both routes read. Unknown fields are accepted. */
export const answerFields = {
  ...samplingFields,
  ...structureFields,
  max_tokens: tokenLimit,
  max_completion_tokens: tokenLimit,
  n_predict: tokenLimit,
  stop: z.union([stopString, z.array(stopString).max(MAX_STOPS)]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(MAX_CHOICES).nullish(),
  speculation: z.enum(['off', 'ngram']).nullish(),
};

type AnswerFields = z.infer<z.ZodObject<typeof answerFields>>;

/**
 * Validates `body` against `schema`. Throws a 400 that names the first invalid field; `asWritten` returns its path in the
 * caller's body, where the schema has replaced a part of it.
 */
export function parseBody<T extends z.ZodType>(
  schema: T,
  body: unknown,
  asWritten: (path: string) => string = (path) => path,
): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = asWritten(issue?.path.join('.') ?? '');
  if (issue === undefined || field === '') throw invalidField(field, 'the body must be a JSON object');
  throw invalidField(field, `${field}: ${zodMessage(issue)}`);
}

/** Parses the fields that both routes share. Throws a 400 for an unsupported field. */
export function answerRequest(
  body: AnswerFields,
  logprobs: number | null,
  defaults: SamplingDefaults = {},
): AnswerRequest {
  refuseFields(body);
  const limit = body.max_completion_tokens ?? body.max_tokens ?? body.n_predict ?? null;
  return {
    generation: {
      sampling: sampling(body, defaults),
      maxTokens: limit === null || limit < 0 ? null : limit,
      stops: [body.stop ?? []].flat().filter((stop) => stop !== ''),
      logprobs,
      grammar: null,
      speculation: body.speculation ?? null,
    },
    n: body.n ?? 1,
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
  };
}
