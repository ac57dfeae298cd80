import { describe, expect, test } from 'vitest';
import { readClientEvent } from './client-event.ts';
import { errorOf, SessionBench, types } from './testing/session-bench.ts';
import { quiet, tone } from './testing/sounds.ts';

const ITEM = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] };
const ANSWERED = {
  kind: 'answered',
  finish: 'stop',
  tokens: { input: 3, output: 4 },
  times: { firstMs: 1, ms: 2 },
} as const;
const SPOKEN = { kind: 'spoken', times: { firstMs: 3, ms: 4 } } as const;
const MANUAL = { audio: { input: { turn_detection: null } } };

const text = () => new SessionBench({ modality: 'text' });
const asked = (bench: SessionBench) => {
  bench.say({ type: 'conversation.item.create', item: ITEM });
  bench.say({ type: 'response.create' });
  return bench.answering;
};
const doneOf = (events: ReturnType<SessionBench['tell']>) =>
  events.find(({ type }) => type === 'response.done')?.response as Record<string, never>;

describe('a session', () => {
  test('greets with its settings', () => {
    const created = new SessionBench({ model: 'qwen' }).checker.seen[0];
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

  test('an update merges: absent stays, null is off', () => {
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
    [{ type: 'nobody.knows' }, 'invalid_value', 'type'],
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
  ])('%j is an error and the session goes on', (event, code, param) => {
    const bench = new SessionBench();
    const events = bench.say({ ...event, event_id: 'mine' });
    expect(events).toHaveLength(1);
    expect(errorOf(events)).toMatchObject({ type: 'invalid_request_error', code, param, event_id: 'mine' });
    expect(types(bench.update({}))).toEqual(['session.updated']);
  });

  test.each(['', 'x', '[]', '"a"', `${'['.repeat(100)}${']'.repeat(100)}`, '\ud800'])(
    '%j is no event',
    (message) => {
      const bench = new SessionBench();
      const events = bench.tell({ kind: 'message', read: readClientEvent(Buffer.from(message)) });
      expect(types(events)).toEqual(['error']);
    },
  );

  test('a missing stage is told by its name, and what is left goes on', () => {
    const bench = text();
    bench.stages = ['chat'];
    expect(errorOf(bench.update({ output_modalities: ['audio'] }))).toMatchObject({
      code: 'realtime.unavailable',
      message: expect.stringMatching(/text to speech/),
    });
    expect(
      errorOf(
        bench.say({ type: 'response.create', response: { output_modalities: ['audio'] }, event_id: 'e' }),
      ),
    ).toMatchObject({ code: 'realtime.unavailable', event_id: 'e' });
    bench.update(MANUAL);
    bench.append(tone(200));
    const committed = bench.say({ type: 'input_audio_buffer.commit' });
    expect(types(committed)).toEqual([
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'error',
    ]);
    expect(asked(bench)).toMatch(/^resp_/);
    bench.stages = [];
    const other = text();
    other.stages = ['stt'];
    expect(errorOf(other.say({ type: 'response.create' }))).toMatchObject({
      code: 'realtime.unavailable',
      message: expect.stringMatching(/chat/),
    });
  });
});

describe('an answer in text', () => {
  test('has the order that clients rely on', () => {
    const bench = text();
    const created = bench.say({ type: 'conversation.item.create', item: ITEM });
    expect(types(created)).toEqual(['conversation.item.added', 'conversation.item.done']);
    expect(types(bench.say({ type: 'response.create' }))).toEqual(['response.created']);
    const response = bench.answering;
    expect(bench.last('answer').chat).toMatchObject({ model: 'agent', items: [{ role: 'user' }] });
    const events = [
      ...bench.tell({ kind: 'words', response, text: 'Hi' }),
      ...bench.tell({ kind: 'words', response, text: ' you' }),
      ...bench.tell({ ...ANSWERED, response }),
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

  test('only one goes on at a time, and a cancelled one is over', () => {
    const bench = text();
    const response = asked(bench);
    expect(errorOf(bench.say({ type: 'response.create' }))).toMatchObject({
      code: 'conversation_already_has_active_response',
    });
    bench.tell({ kind: 'words', response, text: 'Hi' });
    const events = bench.say({ type: 'response.cancel' });
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
    expect(bench.tell({ kind: 'words', response, text: ' late' })).toEqual([]);
  });

  test('calls go to the caller, after the words before them, and their outputs come back', () => {
    const bench = text();
    const response = asked(bench);
    const events = [
      ...bench.tell({ kind: 'words', response, text: 'A moment' }),
      ...bench.tell({ kind: 'call', response, index: 0, name: 'f', arguments: '{"a"' }),
      ...bench.tell({ kind: 'call', response, index: 0, name: '', arguments: ':1}' }),
      ...bench.tell({ kind: 'call', response, index: 1, name: 'g', arguments: '{}' }),
      ...bench.tell({ ...ANSWERED, response, finish: 'tool_calls' }),
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
    bench.say({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: output[1]?.call_id, output: '7' },
    });
    bench.say({ type: 'response.create' });
    expect(bench.last('answer').chat.items.map(({ type }) => type)).toEqual([
      'message',
      'message',
      'function_call',
      'function_call',
      'function_call_output',
    ]);
  });

  test('a failing stage ends the answer, not the session', () => {
    const bench = text();
    const response = asked(bench);
    const events = bench.tell({
      kind: 'failed',
      response,
      error: { code: 'slot.failed', message: 'It is gone.' },
    });
    expect(doneOf(events)).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'slot.failed' } },
    });
    expect(asked(bench)).not.toBe(response);
  });

  test('beside the conversation it leaves no item', () => {
    const bench = text();
    bench.say({
      type: 'response.create',
      response: { conversation: 'none', input: [ITEM], metadata: { topic: 'x' } },
    });
    const response = bench.answering;
    const events = [
      ...bench.tell({ kind: 'words', response, text: 'Hi' }),
      ...bench.tell({ ...ANSWERED, response, finish: 'length' }),
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

describe('speech', () => {
  const SPEAKING = [quiet(200), tone(600), quiet(600)];

  test('a turn is found, heard and answered', () => {
    const bench = new SessionBench();
    bench.update({ audio: { input: { transcription: { model: 'stt' } } } });
    const events = bench.append(...SPEAKING);
    expect(types(events)).toEqual([
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'response.created',
    ]);
    expect(events[0]).toMatchObject({ audio_start_ms: 0 });
    expect(events[1]?.audio_end_ms).toBeGreaterThan(1280);
    expect(events[1]?.audio_end_ms).toBeLessThan(1340);
    const { item } = bench.last('hear');
    const heard = bench.tell({ kind: 'heard', item, text: 'good day', seconds: 1, ms: 5 });
    expect(types(heard)).toEqual([
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
    ]);
    const response = bench.answering;
    const said = [
      ...bench.tell({ kind: 'words', response, text: 'Hello.' }),
      ...bench.tell({ kind: 'saying', response, text: 'Hello.' }),
      ...bench.tell({ kind: 'sound', response, bytes: tone(100) }),
      ...bench.tell({ ...ANSWERED, response }),
      ...bench.tell({ ...SPOKEN, response }),
    ];
    expect(types(said)).toEqual([
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(doneOf(said)).toMatchObject({
      metadata: { svc_stt_ms: '5', svc_tts_first_ms: '3', svc_tts_ms: '4' },
    });
  });

  test('speech ends the answer that goes on; what was heard of it stays', () => {
    const bench = new SessionBench();
    const response = asked(bench);
    bench.tell({ kind: 'words', response, text: 'One two three four. Five six.' });
    bench.tell({ kind: 'saying', response, text: 'One two three four.' });
    bench.tell({ kind: 'sound', response, bytes: tone(1000) });
    bench.tell({ kind: 'saying', response, text: ' Five six.' });
    bench.tell({ kind: 'sound', response, bytes: tone(500) });
    const events = bench.append(tone(200));
    expect(types(events)[0]).toBe('input_audio_buffer.speech_started');
    expect(doneOf(events)).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'turn_detected' },
    });
    const item_id = (bench.state.items.at(-1) as { id: string }).id;
    const truncate = { type: 'conversation.item.truncate', item_id, content_index: 0 };
    expect(errorOf(bench.say({ ...truncate, audio_end_ms: 1501 }))).toMatchObject({ param: 'audio_end_ms' });
    expect(bench.say({ ...truncate, audio_end_ms: 1250 })).toMatchObject([
      { type: 'conversation.item.truncated', audio_end_ms: 1250 },
    ]);
    expect(bench.say({ type: 'conversation.item.retrieve', item_id })).toMatchObject([
      { item: { content: [{ transcript: 'One two three four. Five' }] } },
    ]);
    bench.say({ ...truncate, audio_end_ms: 600 });
    expect(bench.state.items.at(-1)).toMatchObject({ content: [{ transcript: 'One two' }] });
  });

  test('where nothing may interrupt, the turn is answered afterwards', () => {
    const bench = new SessionBench();
    bench.update({ audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } });
    const response = asked(bench);
    expect(types(bench.append(...SPEAKING))).not.toContain('response.done');
    const over = [...bench.tell({ ...ANSWERED, response })];
    expect(types(over)).toEqual(['response.done', 'response.created']);
  });

  test('manual turns: nothing happens until the commit, an answer is asked for', () => {
    const bench = new SessionBench();
    bench.update(MANUAL);
    expect(bench.append(...SPEAKING)).toEqual([]);
    expect(types(bench.say({ type: 'input_audio_buffer.commit' }))).toEqual([
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
    ]);
    expect(bench.last('hear').sound.length).toBe(1400 * 48);
    bench.say({ type: 'response.create' });
    expect(bench.wanted.filter(({ kind }) => kind === 'answer')).toEqual([]);
    bench.tell({ kind: 'heard', item: bench.last('hear').item, text: '', seconds: 1, ms: 1 });
    expect(bench.answering).toMatch(/^resp_/);
    bench.append(tone(50));
    expect(bench.say({ type: 'input_audio_buffer.clear' })).toMatchObject([
      { type: 'input_audio_buffer.cleared' },
    ]);
    expect(errorOf(bench.say({ type: 'input_audio_buffer.commit' }))).toMatchObject({
      code: 'input_audio_buffer_commit_empty',
    });
  });

  test('noise in which nothing is said is answered by silence', () => {
    const bench = new SessionBench();
    bench.append(...SPEAKING);
    const events = bench.tell({ kind: 'heard', item: bench.last('hear').item, text: '', seconds: 1, ms: 1 });
    expect(doneOf(events)).toMatchObject({ status: 'completed', output: [] });
  });

  test('a turn that could not be understood fails its answer', () => {
    const bench = new SessionBench();
    bench.append(...SPEAKING);
    const error = { code: 'slot.failed', message: 'It is gone.' };
    const events = bench.tell({ kind: 'unheard', item: bench.last('hear').item, error });
    expect(types(events)).toEqual(['conversation.item.input_audio_transcription.failed', 'response.done']);
    expect(doneOf(events)).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'slot.failed' } },
    });
  });

  test('a session that only transcribes never answers', () => {
    const bench = new SessionBench({ type: 'transcription' });
    expect(types(bench.append(...SPEAKING))).not.toContain('response.created');
    const heard = bench.tell({
      kind: 'heard',
      item: bench.last('hear').item,
      text: 'words',
      seconds: 1.2,
      ms: 1,
    });
    expect(heard.at(-1)).toMatchObject({
      type: 'conversation.item.input_audio_transcription.completed',
      transcript: 'words',
      usage: { type: 'duration', seconds: 1.2 },
    });
    expect(errorOf(bench.say({ type: 'response.create' }))).toMatchObject({ code: 'invalid_value' });
    expect(bench.checker.seen[0]?.session).not.toHaveProperty('output_modalities');
  });

  test('after idle_timeout_ms the model speaks first', () => {
    const bench = new SessionBench();
    bench.update({ audio: { input: { turn_detection: { type: 'server_vad', idle_timeout_ms: 5000 } } } });
    const response = asked(bench);
    bench.tell({ kind: 'words', response, text: 'Hi.' });
    bench.tell({ kind: 'saying', response, text: 'Hi.' });
    bench.tell({ kind: 'sound', response, bytes: tone(400) });
    bench.tell({ ...ANSWERED, response });
    bench.tell({ ...SPOKEN, response });
    expect(bench.last('idle').ms).toBe(5400);
    expect(types(bench.tell({ kind: 'idle' }))).toEqual([
      'input_audio_buffer.timeout_triggered',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'response.created',
    ]);
    expect(bench.last('answer').response).not.toBe(response);
  });

  test('a listener who speaks without end is heard in pieces, and silence costs no memory', () => {
    const bench = new SessionBench();
    const minute = tone(20_000);
    let stopped = 0;
    for (let count = 0; count < 20; count++)
      stopped += types(bench.append(minute)).filter((type) => type.endsWith('stopped')).length;
    expect(stopped).toBe(1);
    expect(bench.state.sound.bytes).toBeLessThanOrEqual(17 * 1024 * 1024);
    bench.say({ type: 'input_audio_buffer.clear' });
    bench.append(...Array.from({ length: 10 }, () => quiet(5000)));
    expect(bench.state.sound.bytes).toBeLessThan(400 * 48);
  });

  test('a manual buffer has a limit', () => {
    const bench = new SessionBench();
    bench.update(MANUAL);
    const piece = Buffer.alloc(700_000);
    let error: unknown;
    for (let count = 0; count < 30 && !error; count++) error = errorOf(bench.append(piece));
    expect(error).toMatchObject({ code: 'input_audio_buffer_full' });
    expect(bench.state.sound.bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  });
});
