import { describe, expect, test } from 'vitest';
import { tooLongNumbers } from './context-overflow.ts';
import { judge, judgeWithParam } from './engine-error.ts';

const ENGINE_ERRORS: [string, number, unknown][] = [
  [
    'llama-server, a batch',
    500,
    {
      error: {
        code: 500,
        type: 'server_error',
        message:
          'input (600 tokens) is too large to process. increase the physical batch size (current batch size: 512)',
      },
    },
  ],
  [
    'vLLM',
    400,
    {
      error: {
        code: 400,
        type: 'BadRequestError',
        message:
          "This model's maximum context length is 512 tokens. However, you requested 600 tokens in the input for embedding generation. Please reduce the length of the input.",
      },
    },
  ],
  [
    'vLLM, newer',
    400,
    {
      error: {
        code: 400,
        message:
          "This model's maximum context length is 512 tokens. However, your request has 600 input tokens.",
      },
    },
  ],
  [
    'vLLM, older',
    400,
    {
      object: 'error',
      code: 400,
      message: 'The decoder prompt (length 600) is longer than the maximum model length of 512.',
    },
  ],
  [
    'TEI',
    413,
    {
      error: 'Input validation error: `inputs` must have less than 512 tokens. Given: 600',
      error_type: 'Validation',
    },
  ],
  [
    'Cerebras',
    400,
    {
      message:
        'Please reduce the length of the messages or completion. Current length is 600 while limit is 512',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  ],
  [
    'Gemini',
    400,
    [
      {
        error: {
          code: 400,
          message: 'The input token count (600) exceeds the maximum number of tokens allowed (512).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
  ],
  [
    'Mistral',
    400,
    {
      object: 'error',
      message:
        'Prompt contains 600 tokens and 0 draft tokens, too large for model with 512 maximum context length',
      type: 'invalid_request_error',
      code: '3051',
    },
  ],
];

describe('an error for a text that is too long keeps its numbers', () => {
  test.each(ENGINE_ERRORS)('%s', (_, status, body) => {
    const failure = { status, bytes: Buffer.from(JSON.stringify(body)), truncated: false };
    const error = {
      code: 'context_length_exceeded',
      status: 400,
      options: { param: 'messages', details: { n_prompt_tokens: 600, n_ctx: 512 } },
    };
    expect(judge(failure)).toMatchObject({ passes: false, error });
    expect(judgeWithParam('input')(failure)).toMatchObject({
      passes: false,
      error: { ...error, options: { ...error.options, param: 'input' } },
    });
  });
});

test.each([
  ['Cerebras', { code: 'context_length_exceeded', message: 'Please reduce the length of the messages.' }],
  ['a list of one', [{ error: { code: 'context_length_exceeded', message: 'Please reduce it.' } }]],
  ['a path', { code: 'context_length_exceeded', message: 'too long for /var/lib/models/a.gguf' }],
])('%s without numbers', (who, body) => {
  const verdict = judge({ status: 400, bytes: Buffer.from(JSON.stringify(body)), truncated: false });
  expect(verdict).toMatchObject({ passes: false, error: { code: 'context_length_exceeded', status: 400 } });
  const text = verdict.passes ? '' : verdict.error.message;
  expect(text.startsWith('Please reduce')).toBe(who !== 'a path');
  expect(text).not.toContain('/var');
});

test.each(['', 'input is too large', 'maximum context length', 'x'.repeat(100_000)])(
  '%# is not about the length of the text',
  (message) => {
    expect(tooLongNumbers(message)).toBeNull();
  },
);

test.each([
  [
    "This model's maximum context length is 2048 tokens. However, you requested 100 output tokens and your prompt contains 60050 characters (more than 24576 characters, which is the upper bound for 2048 input tokens).",
    { most: 2048 },
  ],
  [
    'Your prompt contains 60050 characters (more than 24576 characters, which is the upper bound for 2048 input tokens).',
    { most: 2048 },
  ],
  [
    "This model's maximum context length is 2048 tokens. However, your request contains 60050 characters.",
    { most: 2048 },
  ],
  [
    "This model's maximum context length is 2048 tokens. However, you requested 100 output tokens and your prompt contains at least 1949 input tokens, for a total of at least 2049 tokens.",
    { requested: 1949, most: 2048 },
  ],
  [
    "This model's maximum context length is 512 tokens. However, you requested 600 tokens (500 in the messages, 100 in the completion).",
    { requested: 600, most: 512 },
  ],
])('characters and output tokens are no prompt tokens: %s', (message, expected) => {
  expect(tooLongNumbers(message)).toEqual({ requested: undefined, ...expected });
  const bytes = Buffer.from(JSON.stringify({ error: { message, code: 400 } }));
  const verdict = judge({ status: 400, bytes, truncated: false });
  if (verdict.passes) throw new Error('it passes');
  const { n_prompt_tokens } = verdict.error.options.details ?? {};
  expect([verdict.error.code, n_prompt_tokens]).toEqual([
    'context_length_exceeded',
    'requested' in expected ? expected.requested : undefined,
  ]);
});
