import { z } from 'zod';
import type { SamplingDefaults } from '../../../models/sampling-defaults.ts';
import { invalidField } from '../refusal.ts';
import { type AnswerRequest, answerFields, answerRequest, parseBody } from './request.ts';
import { type Structure, structure } from './structure.ts';

/** Text, or token ids. */
export type Prompt = string | number[];

export interface CompletionRequest extends AnswerRequest {
  prompts: Prompt[];
  structure: Structure | null;
  /** True: the answer starts with the prompt. */
  echo: boolean;
  /** Text after the gap to fill. Null when the answer continues the prompt. */
  suffix: string | null;
}

const MAX_PROMPTS = 256;
const MAX_LOGPROBS = 5;
const tokens = z.array(z.int().min(0)).min(1);
const body = z.looseObject({
  ...answerFields,
  prompt: z.union(
    [
      z.string(),
      tokens,
      z.array(z.string()).min(1).max(MAX_PROMPTS),
      z.array(tokens).min(1).max(MAX_PROMPTS),
    ],
    { error: `must be a string, an array of token ids, or an array of up to ${MAX_PROMPTS} of these` },
  ),
  echo: z.boolean().nullish(),
  suffix: z.string().nullish(),
  best_of: z.int().min(1).nullish(),
  logprobs: z.union([z.int().min(0).max(MAX_LOGPROBS), z.literal(false)]).nullish(),
});

/**
 * Parses the body of `POST /v1/completions`. `defaults` are those of the model file. Throws a 400 that names the
 * invalid field.
 */
export function completionRequest(input: unknown, defaults: SamplingDefaults = {}): CompletionRequest {
  const parsed = parseBody(body, input);
  const logprobs = typeof parsed.logprobs === 'number' ? parsed.logprobs : null;
  const request = answerRequest(parsed, logprobs, defaults);
  if ((parsed.best_of ?? request.n) !== request.n)
    throw invalidField(
      'best_of',
      'best_of: choosing among several answers is not supported; it must equal n',
    );
  const echo = parsed.echo ?? false;
  if (echo && request.generation.logprobs !== null)
    throw invalidField('echo', 'echo: log probabilities of the prompt are not supported; omit logprobs');
  return {
    ...request,
    prompts: prompts(parsed.prompt),
    structure: structure(parsed),
    echo,
    suffix: parsed.suffix === undefined || parsed.suffix === '' ? null : parsed.suffix,
  };
}

function prompts(input: string | number[] | string[] | number[][]): Prompt[] {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input as number[]] : (input as string[] | number[][]);
}
