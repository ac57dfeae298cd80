import { expect, test } from 'vitest';
import { CHAT, COMPLETION, type WholeChoice } from './chat-response.ts';
import type { Counts } from './usage.ts';

const head = { id: 'chatcmpl-1', created: 5, model: 'm' };
const counts: Counts = {
  promptTokens: 10,
  cachedTokens: 4,
  completionTokens: 3,
  promptMs: 12,
  predictedMs: 30,
};
const common = { id: 'chatcmpl-1', created: 5, model: 'm' };
const call = { id: 'call_1', name: 'f', arguments: '{}' };
const choice: WholeChoice = {
  index: 0,
  text: 'hi',
  reasoning: '',
  calls: [],
  logprobs: null,
  finish: 'stop',
};
const part = { choice: 2, logprobs: null, offset: 0 };
const entry = { token: 'é', logprob: -0.5, top: [{ token: '\ufffd', logprob: -1 }] };

test('the chunks of a chat', () => {
  const chunkFields = { index: 2, finish_reason: null, logprobs: null };
  const object = 'chat.completion.chunk';
  const opening = { ...chunkFields, delta: { role: 'assistant', content: '' } };
  expect(CHAT.opening(head, 2)).toEqual({ ...common, object, choices: [opening] });
  expect(CHAT.part(head, { ...part, piece: { type: 'text', text: 'x' } })).toEqual({
    ...common,
    object,
    choices: [{ ...chunkFields, delta: { content: 'x' } }],
  });
  expect(CHAT.finish(head, 2, { finish: 'stop', counts })).toMatchObject({
    choices: [{ index: 2, delta: {}, finish_reason: 'stop' }],
    timings: { predicted_n: 3 },
  });
  expect(CHAT.finish(head, 2, { finish: 'stop', stop: 'END', counts })).toMatchObject({
    choices: [{ finish_reason: 'stop', stop_reason: 'END' }],
  });
  expect(CHAT.usage(head, counts)).toMatchObject({ object, choices: [], usage: { total_tokens: 13 } });
});

test.each([
  [{ type: 'reasoning', text: 'x' } as const, { reasoning_content: 'x' }],
  [
    { type: 'call', index: 1, id: 'c', name: 'f' } as const,
    { tool_calls: [{ index: 1, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] },
  ],
  [
    { type: 'arguments', index: 1, text: '{"a' } as const,
    { tool_calls: [{ index: 1, function: { arguments: '{"a' } }] },
  ],
])('%j is the delta %j', (piece, delta) => {
  expect(CHAT.part(head, { ...part, piece })).toMatchObject({ choices: [{ delta }] });
});

test("a complete chat has usage and llama-server's timings", () => {
  expect(CHAT.whole(head, [choice], counts)).toMatchObject({
    ...common,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'hi', refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 3,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 4 },
    },
    timings: {
      cache_n: 4,
      prompt_n: 6,
      prompt_per_token_ms: 2,
      prompt_per_second: 500,
      predicted_n: 3,
      predicted_per_token_ms: 10,
      predicted_per_second: 100,
    },
  });
});

test('an answer of only calls has no content, and reasoning has its own field', () => {
  const called = { ...choice, text: '', calls: [call], finish: 'tool_calls' as const, reasoning: 'hm' };
  const { id, ...written } = call;
  expect(CHAT.whole(head, [called], counts)).toMatchObject({
    choices: [
      {
        message: {
          content: null,
          reasoning_content: 'hm',
          tool_calls: [{ id, type: 'function', function: written }],
        },
      },
    ],
  });
});

test('formats probabilities for each API', () => {
  const logprobs = [entry, { ...entry, token: 'b' }];
  expect(CHAT.whole(head, [{ ...choice, logprobs }], counts)).toMatchObject({
    choices: [
      {
        logprobs: {
          content: [
            { token: 'é', logprob: -0.5, bytes: [195, 169], top_logprobs: [{ bytes: null, logprob: -1 }] },
            { token: 'b', bytes: [98] },
          ],
          refusal: null,
        },
      },
    ],
  });
  expect(
    COMPLETION.part(head, { ...part, piece: { type: 'text', text: 'éb' }, logprobs, offset: 7 }),
  ).toMatchObject({
    choices: [
      {
        text: 'éb',
        logprobs: {
          tokens: ['é', 'b'],
          token_logprobs: [-0.5, -0.5],
          top_logprobs: [{ '\ufffd': -1 }, { '\ufffd': -1 }],
          text_offset: [7, 8],
        },
      },
    ],
  });
});

test('completions have text and no role', () => {
  expect(COMPLETION.opening(head, 0)).toBeNull();
  expect(COMPLETION.part(head, { ...part, piece: { type: 'text', text: 'x' } })).toEqual({
    ...common,
    object: 'text_completion',
    choices: [{ index: 2, text: 'x', finish_reason: null, logprobs: null }],
  });
  expect(COMPLETION.whole(head, [{ ...choice, finish: 'length' }], counts)).toMatchObject({
    choices: [{ index: 0, text: 'hi', finish_reason: 'length' }],
    usage: { total_tokens: 13 },
  });
});
