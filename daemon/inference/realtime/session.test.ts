import { describe, expect, test } from 'vitest';
import { readClientEvent } from './client-event.ts';
import {
  ANSWERED,
  doneOf,
  errorOf,
  ITEM,
  MANUAL,
  requestResponse,
  SessionBench,
  textSession,
  types,
} from './testing/session-bench.ts';
import { tone } from './testing/sounds.ts';

describe('a session', () => {
  test('starts with its settings', () => {
    const created = new SessionBench({ model: 'qwen' }).checker.events[0];
    expect(created?.session).toMatchObject({
      type: 'realtime',
      object: 'realtime.session',
      id: 'sess_s',
      model: 'qwen',
      output_modalities: ['audio'],
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: null,
          turn_detection: {
            type: 'server_vad',
            threshold: 0.5,
            prefix_padding_ms: 300,
            silence_duration_ms: 500,
          },
        },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, speed: 1 },
      },
    });
  });

  test('an update merges: absent stays, null turns off', () => {
    const bench = new SessionBench();
    bench.update({ instructions: 'be brief', audio: { input: { transcription: { model: 'stt' } } } });
    const [updated] = bench.update({
      audio: { input: { turn_detection: null }, output: { voice: { id: 'amy' } } },
    });
    expect(updated?.session).toMatchObject({
      instructions: 'be brief',
      audio: { input: { transcription: { model: 'stt' }, turn_detection: null }, output: { voice: 'amy' } },
    });
    const [off] = bench.update({ audio: { input: { transcription: null } } });
    expect(off?.session).toMatchObject({ audio: { input: { transcription: null } } });
  });

  test.each([
    [{ type: 'session.update', session: {} }, 'missing_required_parameter', 'session.type'],
    [{ type: 'session.update', session: { type: 'transcription' } }, 'invalid_value', 'session.type'],
    [
      { type: 'session.update', session: { type: 'realtime', audio: { output: { speed: 9 } } } },
      'invalid_value',
      'session.audio.output.speed',
    ],
    [
      { type: 'session.update', session: { type: 'realtime', tools: [{ type: 'mcp' }] } },
      'invalid_value',
      'session.tools[0].type',
    ],
    [
      { type: 'session.update', session: { type: 'realtime', output_modalities: ['text', 'audio'] } },
      'invalid_value',
      'session.output_modalities',
    ],
    [{ type: 'unknown.event' }, 'invalid_value', 'type'],
    [{}, 'missing_required_parameter', 'type'],
    [{ type: 'constructor' }, 'invalid_value', 'type'],
    [{ type: 'input_audio_buffer.append' }, 'missing_required_parameter', 'audio'],
    [{ type: 'input_audio_buffer.append', audio: '***' }, 'invalid_value', 'audio'],
    [{ type: 'input_audio_buffer.append', audio: 'AAAA' }, 'invalid_value', 'audio'],
    [{ type: 'input_audio_buffer.commit' }, 'input_audio_buffer_commit_empty', null],
    [{ type: 'conversation.item.delete', item_id: 'no' }, 'item_delete_invalid_item_id', 'item_id'],
    [{ type: 'conversation.item.retrieve', item_id: 'no' }, 'item_retrieve_invalid_item_id', 'item_id'],
    [
      { type: 'conversation.item.truncate', item_id: 'no', content_index: 0, audio_end_ms: 1 },
      'item_truncate_invalid_item_id',
      'item_id',
    ],
    [{ type: 'conversation.item.create', item: { ...ITEM, role: 'king' } }, 'invalid_value', 'item'],
    [
      { type: 'conversation.item.create', item: ITEM, previous_item_id: 'no' },
      'item_create_invalid_previous_item_id',
      'previous_item_id',
    ],
    [{ type: 'response.cancel' }, 'response_cancel_not_active', null],
    [
      { type: 'response.create', response: { input: [{ type: 'item_reference', id: 'no' }] } },
      'invalid_value',
      'response.input',
    ],
  ])('%j is an error, and the session continues', (event, code, param) => {
    const bench = new SessionBench();
    const events = bench.send({ ...event, event_id: 'mine' });
    expect(events).toHaveLength(1);
    expect(errorOf(events)).toMatchObject({ type: 'invalid_request_error', code, param, event_id: 'mine' });
    expect(types(bench.update({}))).toEqual(['session.updated']);
  });

  test.each(['', 'x', '[]', '"a"', `${'['.repeat(100)}${']'.repeat(100)}`, '\ud800'])(
    '%j is not an event',
    (message) => {
      const bench = new SessionBench();
      const events = bench.dispatch({ kind: 'message', read: readClientEvent(Buffer.from(message)) });
      expect(types(events)).toEqual(['error']);
    },
  );

  test('reports a missing stage by name and continues with the rest', () => {
    const bench = textSession();
    bench.stages = ['chat'];
    expect(errorOf(bench.update({ output_modalities: ['audio'] }))).toMatchObject({
      code: 'realtime.unavailable',
      message: expect.stringMatching(/text to speech/),
    });
    expect(
      errorOf(
        bench.send({ type: 'response.create', response: { output_modalities: ['audio'] }, event_id: 'e' }),
      ),
    ).toMatchObject({ code: 'realtime.unavailable', event_id: 'e' });
    bench.update(MANUAL);
    bench.append(tone(200));
    const committed = bench.send({ type: 'input_audio_buffer.commit' });
    expect(types(committed)).toEqual([
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'error',
    ]);
    expect(requestResponse(bench)).toMatch(/^resp_/);
    bench.stages = [];
    const other = textSession();
    other.stages = ['stt'];
    expect(errorOf(other.send({ type: 'response.create' }))).toMatchObject({
      code: 'realtime.unavailable',
      message: expect.stringMatching(/chat/),
    });
  });
});

describe('a text response', () => {
  test('has the event order that clients rely on', () => {
    const bench = textSession();
    const created = bench.send({ type: 'conversation.item.create', item: ITEM });
    expect(types(created)).toEqual(['conversation.item.added', 'conversation.item.done']);
    expect(types(bench.send({ type: 'response.create' }))).toEqual(['response.created']);
    const response = bench.answering;
    expect(bench.last('answer').chat).toMatchObject({ model: 'agent', items: [{ role: 'user' }] });
    const events = [
      ...bench.dispatch({ kind: 'text', response, text: 'Hi' }),
      ...bench.dispatch({ kind: 'text', response, text: ' you' }),
      ...bench.dispatch({ ...ANSWERED, response }),
    ];
    expect(types(events)).toEqual([
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(doneOf(events)).toMatchObject({
      status: 'completed',
      output: [
        { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hi you' }] },
      ],
      usage: { total_tokens: 7, input_tokens: 3, output_tokens: 4 },
      metadata: { svc_chat_first_ms: '1', svc_chat_ms: '2', svc_total_ms: '0' },
    });
  });

  test('only one is active at a time, and a cancelled one has ended', () => {
    const bench = textSession();
    const response = requestResponse(bench);
    expect(errorOf(bench.send({ type: 'response.create' }))).toMatchObject({
      code: 'conversation_already_has_active_response',
    });
    bench.dispatch({ kind: 'text', response, text: 'Hi' });
    const events = bench.send({ type: 'response.cancel' });
    expect(types(events)).toEqual([
      'response.output_text.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(doneOf(events)).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'client_cancelled' },
      output: [{ status: 'incomplete' }],
    });
    expect(bench.last('stop').response).toBe(response);
    expect(bench.dispatch({ kind: 'text', response, text: ' late' })).toEqual([]);
  });

  test('calls go to the caller after the text before them, and their outputs return', () => {
    const bench = textSession();
    const response = requestResponse(bench);
    const events = [
      ...bench.dispatch({ kind: 'text', response, text: 'A moment' }),
      ...bench.dispatch({ kind: 'call', response, index: 0, name: 'f', arguments: '{"a"' }),
      ...bench.dispatch({ kind: 'call', response, index: 0, name: '', arguments: ':1}' }),
      ...bench.dispatch({ kind: 'call', response, index: 1, name: 'g', arguments: '{}' }),
      ...bench.dispatch({ ...ANSWERED, response, finish: 'tool_calls' }),
    ];
    expect(types(events).filter((type) => type.includes('function_call'))).toEqual([
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
    ]);
    const { output } = doneOf(events) as unknown as { output: { call_id: string }[] };
    expect(output.slice(1)).toMatchObject([
      { name: 'f', arguments: '{"a":1}' },
      { name: 'g', arguments: '{}' },
    ]);
    bench.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: output[1]?.call_id, output: '7' },
    });
    bench.send({ type: 'response.create' });
    expect(bench.last('answer').chat.items.map(({ type }) => type)).toEqual([
      'message',
      'message',
      'function_call',
      'function_call',
      'function_call_output',
    ]);
  });

  test('a failing stage ends the response, not the session', () => {
    const bench = textSession();
    const response = requestResponse(bench);
    const events = bench.dispatch({
      kind: 'failed',
      response,
      error: { code: 'slot.failed', message: 'It is gone.' },
    });
    expect(doneOf(events)).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'slot.failed' } },
    });
    expect(requestResponse(bench)).not.toBe(response);
  });

  test('outside the conversation adds no item', () => {
    const bench = textSession();
    bench.send({
      type: 'response.create',
      response: { conversation: 'none', input: [ITEM], metadata: { topic: 'x' } },
    });
    const response = bench.answering;
    const events = [
      ...bench.dispatch({ kind: 'text', response, text: 'Hi' }),
      ...bench.dispatch({ ...ANSWERED, response, finish: 'length' }),
    ];
    expect(types(events)).not.toContain('conversation.item.added');
    expect(doneOf(events)).toMatchObject({
      status: 'incomplete',
      status_details: { reason: 'max_output_tokens' },
      metadata: { topic: 'x' },
    });
    expect(bench.state.items).toEqual([]);
  });
});

describe('15 MiB of sound in one event', () => {
  const silence = Buffer.alloc(15 << 20);
  const pcm = { type: 'audio/pcm', rate: 24_000 };

  test.each<[string, object, Buffer]>([
    ['without turn detection', { format: pcm, turn_detection: null }, silence],
    ['with turn detection', { format: pcm, turn_detection: { type: 'server_vad' } }, silence],
    [
      'with speech at its end',
      { format: pcm, turn_detection: { type: 'server_vad' } },
      Buffer.concat([silence, tone(800)]),
    ],
    [
      'in G.711 (µ-law)',
      { format: { type: 'audio/pcmu' }, turn_detection: null },
      Buffer.alloc(15 << 20, 0xff),
    ],
    [
      'in G.711 (A-law)',
      { format: { type: 'audio/pcma' }, turn_detection: null },
      Buffer.alloc(15 << 20, 0xd5),
    ],
    [
      'with noise reduction',
      { format: pcm, turn_detection: null, noise_reduction: { type: 'near_field' } },
      silence,
    ],
  ])('are taken %s', (_, input, sound) => {
    const bench = new SessionBench();
    expect(errorOf(bench.update({ audio: { input } }))).toBeUndefined();
    expect(errorOf(bench.append(sound))).toBeUndefined();
    const { turn_detection } = input as { turn_detection: unknown };
    if (turn_detection !== null) return;
    const events = bench.send({ type: 'input_audio_buffer.commit' });
    expect(types(events)).toContain('input_audio_buffer.committed');
  });
});
