import { describe, expect, test } from 'vitest';
import { type ChatRequest, chatBody } from './chat-body.ts';
import { chatModel } from './session-config.ts';
import { errorOf, ITEM, SessionBench, textSession } from './testing/session-bench.ts';

test.each([
  ['gpt-realtime', 'agent'],
  ['gpt-realtime-2025-08-28', 'agent'],
  ['gpt-realtime-mini', 'agent'],
  ['GPT-Realtime', 'agent'],
  ['gpt-4o-realtime-preview', 'agent'],
  ['gpt-4o-mini-realtime-preview-2024-12-17', 'agent'],
  ['gpt-4o', 'gpt-4o'],
  ['my-gpt-realtime', 'my-gpt-realtime'],
  ['gpt-realtimer', 'gpt-realtimer'],
  ['qwen', 'qwen'],
  ['svc/agent', 'svc/agent'],
])('a session with the model %s chats with %s', (name, model) => {
  expect(chatModel(name)).toBe(model);
  const bench = new SessionBench({ model: name, modality: 'text' });
  expect(bench.checker.events[0]?.session).toMatchObject({ model: name });
  bench.send({ type: 'response.create' });
  expect(bench.last('answer').chat.model).toBe(model);
});

describe('a model that nothing serves', () => {
  test('is refused by session.update, which changes nothing', () => {
    const bench = textSession();
    const events = bench.send({
      type: 'session.update',
      event_id: 'mine',
      session: { type: 'realtime', model: 'unknown', instructions: 'new' },
    });
    expect(events).toHaveLength(1);
    expect(errorOf(events)).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_value',
      param: 'session.model',
      event_id: 'mine',
    });
    expect(bench.state.config).toMatchObject({ model: 'agent', instructions: '' });
  });

  test.each([
    ['a name of the caller', { model: 'qwen' }, 'invalid_request_error'],
    ['the default', {}, 'server_error'],
    ['a name of OpenAI', { model: 'gpt-realtime' }, 'server_error'],
  ])('%s that cannot be served now: the type of the error', (_, start, type) => {
    const bench = new SessionBench({ modality: 'text', ...start });
    bench.stages = [];
    bench.send({ type: 'conversation.item.create', item: ITEM });
    expect(errorOf(bench.send({ type: 'response.create' }))).toMatchObject({
      type,
      code: 'realtime.unavailable',
    });
  });

  test('an unknown model of the transcription is the fault of the caller', () => {
    const bench = textSession();
    bench.update({ audio: { input: { turn_detection: null, transcription: { model: 'other' } } } });
    bench.stages = ['chat'];
    bench.append(Buffer.alloc(9_600));
    expect(errorOf(bench.send({ type: 'input_audio_buffer.commit' }))).toMatchObject({
      type: 'invalid_request_error',
      code: 'realtime.unavailable',
    });
  });
});

test('the model of a transcription session is its speech-to-text model', () => {
  const bench = new SessionBench({ type: 'transcription', model: 'whisper-1' });
  expect(bench.checker.events[0]?.session).toMatchObject({
    audio: { input: { transcription: { model: 'whisper-1' } } },
  });
});

test('an empty conversation begins with a greeting of the user', () => {
  const request: Omit<ChatRequest, 'instructions'> = {
    model: 'x',
    items: [],
    tools: [],
    toolChoice: 'auto',
    maxOutputTokens: 'inf',
  };
  expect(chatBody({ ...request, instructions: '' }).messages).toEqual([{ role: 'user', content: 'Hello.' }]);
  expect(chatBody({ ...request, instructions: 'Be brief.' }).messages).toEqual([
    { role: 'system', content: 'Be brief.' },
  ]);
});
