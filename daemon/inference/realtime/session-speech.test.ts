import { describe, expect, test, vi } from 'vitest';
import {
  ANSWERED,
  doneOf,
  errorOf,
  MANUAL,
  requestResponse,
  SessionBench,
  SPOKEN,
  types,
} from './testing/session-bench.ts';
import { quiet, tone } from './testing/sounds.ts';

describe('speech', () => {
  const SPEAKING = [quiet(200), tone(600), quiet(600)];

  test('a turn is detected, transcribed and answered', () => {
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
    const { item } = bench.last('transcribe');
    const transcribed = bench.dispatch({ kind: 'transcribed', item, text: 'good day', seconds: 1, ms: 5 });
    expect(types(transcribed)).toEqual([
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
    ]);
    const response = bench.answering;
    const sent = [
      ...bench.dispatch({ kind: 'text', response, text: 'Hello.' }),
      ...bench.dispatch({ kind: 'sentence', response, text: 'Hello.' }),
      ...bench.dispatch({ kind: 'sound', response, bytes: tone(100) }),
      ...bench.dispatch({ ...ANSWERED, response }),
      ...bench.dispatch({ ...SPOKEN, response }),
    ];
    expect(types(sent)).toEqual([
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
    expect(doneOf(sent)).toMatchObject({
      metadata: { svc_stt_ms: '5', svc_tts_first_ms: '3', svc_tts_ms: '4' },
    });
  });

  test('speech ends the active response; the spoken part stays', () => {
    const bench = new SessionBench();
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'One two three four. Five six.' });
    bench.dispatch({ kind: 'sentence', response, text: 'One two three four.' });
    bench.dispatch({ kind: 'sound', response, bytes: tone(1000) });
    bench.dispatch({ kind: 'sentence', response, text: ' Five six.' });
    bench.dispatch({ kind: 'sound', response, bytes: tone(500) });
    const events = bench.append(tone(200));
    expect(types(events)[0]).toBe('input_audio_buffer.speech_started');
    expect(doneOf(events)).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'turn_detected' },
    });
    const item_id = (bench.state.items.at(-1) as { id: string }).id;
    const truncate = { type: 'conversation.item.truncate', item_id, content_index: 0 };
    expect(errorOf(bench.send({ ...truncate, audio_end_ms: 1501 }))).toMatchObject({ param: 'audio_end_ms' });
    expect(bench.send({ ...truncate, audio_end_ms: 1250 })).toMatchObject([
      { type: 'conversation.item.truncated', audio_end_ms: 1250 },
    ]);
    expect(bench.send({ type: 'conversation.item.retrieve', item_id })).toMatchObject([
      { item: { content: [{ transcript: 'One two three four. Five' }] } },
    ]);
    bench.send({ ...truncate, audio_end_ms: 600 });
    expect(bench.state.items.at(-1)).toMatchObject({ content: [{ transcript: 'One two' }] });
  });

  test('an interrupted item keeps what was spoken, however far ahead the model was', () => {
    const bench = new SessionBench();
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'One two. Three four. Five six. Seven eight.' });
    bench.dispatch({ kind: 'sentence', response, text: 'One two.' });
    bench.dispatch({ kind: 'sound', response, bytes: tone(1000) });
    bench.dispatch({ kind: 'sentence', response, text: ' Three four.' });
    bench.dispatch({ kind: 'sound', response, bytes: tone(100) });
    bench.dispatch({ kind: 'sentence', response, text: ' Five six.' });
    const events = bench.append(tone(200));
    const content = [{ type: 'output_audio', transcript: 'One two. Three four.' }];
    expect(doneOf(events)).toMatchObject({
      status: 'cancelled',
      output: [{ status: 'incomplete', content }],
    });
    expect(bench.state.items.at(-1)).toMatchObject({ status: 'incomplete', content });
    const { id: item_id } = bench.state.items.at(-1) as { id: string };
    const truncate = { type: 'conversation.item.truncate', item_id, content_index: 0 };
    expect(errorOf(bench.send({ ...truncate, audio_end_ms: 1101 }))).toMatchObject({ param: 'audio_end_ms' });
    bench.send({ ...truncate, audio_end_ms: 1000 });
    expect(bench.state.items.at(-1)).toMatchObject({ content: [{ transcript: 'One two.' }] });
  });

  test('a response that is cancelled before its first sound was not spoken', () => {
    const bench = new SessionBench();
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'One two. Three four.' });
    bench.dispatch({ kind: 'sentence', response, text: 'One two.' });
    bench.send({ type: 'response.cancel' });
    expect(bench.state.items.at(-1)).toMatchObject({ content: [{ transcript: '' }] });
  });

  test('a failing voice removes no text', () => {
    const bench = new SessionBench();
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'One two.' });
    bench.dispatch({ kind: 'failed', response, error: { code: 'slot.failed', message: 'It is gone.' } });
    expect(bench.state.items.at(-1)).toMatchObject({ content: [{ transcript: 'One two.' }] });
  });

  test('without interruption the turn is answered afterwards', () => {
    const bench = new SessionBench();
    bench.update({ audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } });
    const response = requestResponse(bench);
    expect(types(bench.append(...SPEAKING))).not.toContain('response.done');
    const over = [...bench.dispatch({ ...ANSWERED, response })];
    expect(types(over)).toEqual(['response.done', 'response.created']);
  });

  test('manual turns: nothing happens until the commit, and the response is requested', () => {
    const bench = new SessionBench();
    bench.update(MANUAL);
    expect(bench.append(...SPEAKING)).toEqual([]);
    expect(types(bench.send({ type: 'input_audio_buffer.commit' }))).toEqual([
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
    ]);
    expect(bench.last('transcribe').sound.length).toBe(1400 * 48);
    bench.send({ type: 'response.create' });
    expect(bench.effects.filter(({ kind }) => kind === 'answer')).toEqual([]);
    bench.dispatch({ kind: 'transcribed', item: bench.last('transcribe').item, text: '', seconds: 1, ms: 1 });
    expect(bench.answering).toMatch(/^resp_/);
    bench.append(tone(50));
    expect(bench.send({ type: 'input_audio_buffer.clear' })).toMatchObject([
      { type: 'input_audio_buffer.cleared' },
    ]);
    expect(errorOf(bench.send({ type: 'input_audio_buffer.commit' }))).toMatchObject({
      code: 'input_audio_buffer_commit_empty',
    });
  });

  test('noise without speech gets no response', () => {
    const bench = new SessionBench();
    bench.append(...SPEAKING);
    const events = bench.dispatch({
      kind: 'transcribed',
      item: bench.last('transcribe').item,
      text: '',
      seconds: 1,
      ms: 1,
    });
    expect(doneOf(events)).toMatchObject({ status: 'completed', output: [] });
  });

  test('a turn that could not be transcribed fails its response', () => {
    const bench = new SessionBench();
    bench.append(...SPEAKING);
    const error = { code: 'slot.failed', message: 'It is gone.' };
    const events = bench.dispatch({
      kind: 'transcription_failed',
      item: bench.last('transcribe').item,
      error,
    });
    expect(types(events)).toEqual(['conversation.item.input_audio_transcription.failed', 'response.done']);
    expect(doneOf(events)).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'slot.failed' } },
    });
  });

  test('a transcription session never responds', () => {
    const bench = new SessionBench({ type: 'transcription' });
    expect(types(bench.append(...SPEAKING))).not.toContain('response.created');
    const transcribed = bench.dispatch({
      kind: 'transcribed',
      item: bench.last('transcribe').item,
      text: 'words',
      seconds: 1.2,
      ms: 1,
    });
    expect(transcribed.at(-1)).toMatchObject({
      type: 'conversation.item.input_audio_transcription.completed',
      transcript: 'words',
      usage: { type: 'duration', seconds: 1.2 },
    });
    expect(errorOf(bench.send({ type: 'response.create' }))).toMatchObject({ code: 'invalid_value' });
    expect(bench.checker.events[0]?.session).not.toHaveProperty('output_modalities');
  });

  test('after idle_timeout_ms the model speaks first', () => {
    const bench = new SessionBench();
    bench.update({ audio: { input: { turn_detection: { type: 'server_vad', idle_timeout_ms: 5000 } } } });
    const response = requestResponse(bench);
    bench.dispatch({ kind: 'text', response, text: 'Hi.' });
    bench.dispatch({ kind: 'sentence', response, text: 'Hi.' });
    bench.dispatch({ kind: 'sound', response, bytes: tone(400) });
    bench.dispatch({ ...ANSWERED, response });
    bench.dispatch({ ...SPOKEN, response });
    expect(bench.last('idle').ms).toBe(5400);
    expect(types(bench.dispatch({ kind: 'idle' }))).toEqual([
      'input_audio_buffer.timeout_triggered',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'response.created',
    ]);
    expect(bench.last('answer').response).not.toBe(response);
  });

  test('endless speech is transcribed in parts, and silence costs no memory', () => {
    const bench = new SessionBench();
    const minute = tone(20_000);
    let stopped = 0;
    for (let count = 0; count < 20; count++)
      stopped += types(bench.append(minute)).filter((type) => type.endsWith('stopped')).length;
    expect(stopped).toBe(1);
    expect(bench.state.sound.bytes).toBeLessThanOrEqual(17 * 1024 * 1024);
    bench.send({ type: 'input_audio_buffer.clear' });
    bench.append(...Array.from({ length: 10 }, () => quiet(5000)));
    expect(bench.state.sound.bytes).toBeLessThan(400 * 48);
  });

  test('a message copies the earlier audio once, not for each frame', () => {
    const bench = new SessionBench();
    const second = tone(1_000);
    for (let count = 0; count < 20; count++) bench.append(second);
    expect(bench.state.sound.blocks.length).toBeGreaterThanOrEqual(20);
    const cuts = vi.spyOn(Buffer.prototype, 'subarray');
    bench.append(second);
    const { length } = cuts.mock.calls;
    cuts.mockRestore();
    expect(bench.state.processedBytes).toBe(bench.state.sound.bytes);
    expect(length).toBeLessThan(150);
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
