import { z } from 'zod';
import { type AnswerRequest, answerFields, answerRequest, parseBody } from './request.ts';

export interface CompletionRequest extends AnswerRequest {
  prompt: string;
}

const body = z.looseObject({
  ...answerFields,
  prompt: z.union([z.string(), z.tuple([z.string()])], { error: 'must be a string' }),
});

/** Reads the body of `POST /v1/completions`; throws a 400 that names the field at fault. */
export function completionRequest(input: unknown): CompletionRequest {
  const parsed = parseBody(body, input);
  return {
    ...answerRequest(parsed),
    prompt: typeof parsed.prompt === 'string' ? parsed.prompt : parsed.prompt[0],
  };
}
