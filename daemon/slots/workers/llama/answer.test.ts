import { expect, test } from 'vitest';
import { CHAT, COMPLETION, type Counts } from './answer.ts';

const head = { id: 'chatcmpl-1', created: 5, model: 'm' };
const counts: Counts = {
  promptTokens: 10,
  cachedTokens: 4,
  completionTokens: 3,
  promptMs: 12,
  predictedMs: 30,
};
const call = { id: 'call_1', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
const common = { id: 'chatcmpl-1', created: 5, model: 'm' };

test('the chunks of a chat', () => {
  const choice = { index: 0, finish_reason: null, logprobs: null };
  const object = 'chat.completion.chunk';
  const opening = { ...choice, delta: { role: 'assistant', content: '' } };
  expect(CHAT.opening(head)).toEqual({ ...common, object, choices: [opening] });
  expect(CHAT.text(head, 'x')).toEqual({
    ...common,
    object,
    choices: [{ ...choice, delta: { content: 'x' } }],
  });
  expect(CHAT.toolCall(head, call, 1)).toMatchObject({
    choices: [{ delta: { tool_calls: [{ index: 1, ...call }] } }],
  });
  expect(CHAT.finish(head, 'stop', counts)).toMatchObject({
    choices: [{ delta: {}, finish_reason: 'stop' }],
  });
  expect(CHAT.usage(head, counts)).toMatchObject({ object, choices: [], usage: { total_tokens: 13 } });
});

test('a whole chat carries usage and the timings of llama-server', () => {
  expect(CHAT.whole(head, { text: 'hi', calls: [], finish: 'stop', counts })).toMatchObject({
    ...common,
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'hi', refusal: null }, finish_reason: 'stop' },
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

test('an answer of calls alone has no content', () => {
  expect(CHAT.whole(head, { text: '\n', calls: [call], finish: 'tool_calls', counts })).toMatchObject({
    choices: [{ message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }],
  });
});

test('completions have text and no role', () => {
  expect(COMPLETION.opening(head)).toBeNull();
  expect(COMPLETION.text(head, 'x')).toEqual({
    ...common,
    object: 'text_completion',
    choices: [{ index: 0, text: 'x', finish_reason: null, logprobs: null }],
  });
  expect(COMPLETION.whole(head, { text: 'x', calls: [], finish: 'length', counts })).toMatchObject({
    choices: [{ text: 'x', finish_reason: 'length' }],
    usage: { total_tokens: 13 },
  });
});

test('nothing measured gives no infinite rate', () => {
  const none = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, promptMs: 0, predictedMs: 0 };
  const text = JSON.stringify(CHAT.whole(head, { text: '', calls: [], finish: 'length', counts: none }));
  expect(text).not.toContain('null,"prompt_per_second"');
  expect(JSON.parse(text).timings).toMatchObject({ prompt_per_second: 0, predicted_per_second: 0 });
});
