import { describe, expect, it } from 'vitest';
import { judge } from './engine-error.ts';
import { parameterIn, unwrapRayError } from './ray-error.ts';

/** An error of Ray Serve LLM 2.60, as it was received. */
const rayError = (message: string) => ({
  error: {
    message: `Message: ${message} (Request ID: 9df7b4f5-9554-4175-b7dc-acbb48899ecd), Internal exception: ray.llm._internal.serve.core.configs.openai_api_models.OpenAIHTTPException (Request ID: 9df7b4f5-9554-4175-b7dc-acbb48899ecd), original exception: `,
    type: 'OpenAIHTTPException',
    param: null,
    code: 400,
  },
});
const judged = (body: object) => {
  const verdict = judge({ status: 400, bytes: Buffer.from(JSON.stringify(body)), truncated: false });
  if (verdict.passes) throw new Error('it is relayed');
  return verdict.error;
};

describe('an error of Ray Serve LLM', () => {
  it.each([
    [
      'max_tokens=4000 cannot be greater than max_model_len=512. Please request fewer output tokens. (parameter=max_tokens, value=4000)',
      'max_tokens',
    ],
    ['temperature must be in [0, 2], got 9.0. (parameter=temperature, value=9.0)', 'temperature'],
    [
      "This model does not support the 'embed' task. The embedding endpoint is not available for this model.",
      undefined,
    ],
  ])('%s', (message, param) => {
    const error = judged(rayError(message));
    expect([error.code, error.status, error.message, error.options.param]).toEqual([
      'upstream.error',
      400,
      message,
      param,
    ]);
    expect(JSON.stringify(error.options.details)).not.toContain('Internal exception');
  });

  it.each([
    [
      "This model's maximum context length is 512 tokens. However, your prompt contains at least 513 input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=513)",
      { n_prompt_tokens: 513, n_ctx: 512 },
    ],
    [
      "This model's maximum context length is 512 tokens. However, your prompt contains 7250 characters (more than 6144 characters, which is the upper bound for 512 input tokens). Please reduce the length of the input prompt. (parameter=input_text, value=7250)",
      { n_prompt_tokens: undefined, n_ctx: 512 },
    ],
  ])('about a prompt that is too long: %s', (message, details) => {
    const error = judged(rayError(message));
    expect(error).toMatchObject({ code: 'context_length_exceeded', status: 400, message });
    expect(error.options).toMatchObject({ param: 'messages', details });
  });
});

it.each([
  null,
  'text',
  [],
  {},
  { error: 'Message: text' },
  { error: { message: 'Message: a plain one' } },
  { error: { message: 'said (Request ID: x), Internal exception: y' } },
])('%j stays as it is', (body) => expect(unwrapRayError(body)).toBe(body));

it.each([
  ['no (parameter=top_p, value=2.0)', 'top_p'],
  ['no (parameter=input_tokens, value=513)', undefined],
  ['(parameter=two words, value=1)', undefined],
  ['no parameter', undefined],
])('%s names %s', (message, name) => expect(parameterIn(message)).toBe(name));
