import { describe, expect, test } from 'vitest';
import {
  ANSWERED,
  doneOf,
  errorOf,
  ITEM,
  requestResponse,
  SessionBench,
  SPOKEN,
  textSession,
  types,
} from './testing/session-bench.ts';
import { quiet, tone } from './testing/sounds.ts';

/** Requests a response outside the conversation; returns its id. */
const requestOutOfBand = (bench: SessionBench, more: object = {}): string => {
  bench.send({ type: 'response.create', response: { conversation: 'none', input: [ITEM], ...more } });
  return bench.answering;
};
const finish = (bench: SessionBench, response: string, text: string) => [
  ...bench.dispatch({ kind: 'text', response, text }),
  ...bench.dispatch({ ...ANSWERED, response }),
];

describe('responses outside the conversation', () => {
  test('run beside the one of the conversation, and end in any order', () => {
    const bench = textSession();
    const main = requestResponse(bench);
    bench.dispatch({ kind: 'text', response: main, text: 'Main ' });
    const first = requestOutOfBand(bench, { metadata: { topic: 'a' } });
    const second = requestOutOfBand(bench, { metadata: { topic: 'b' } });
    expect(new Set([main, first, second]).size).toBe(3);
    const done = doneOf(finish(bench, second, 'two'));
    expect(done).toMatchObject({ id: second, conversation_id: null, metadata: { topic: 'b' } });
    expect(doneOf(finish(bench, main, 'end')).output).toMatchObject([{ content: [{ text: 'Main end' }] }]);
    expect(doneOf(finish(bench, first, 'one'))).toMatchObject({ id: first, status: 'completed' });
    expect(bench.state.items.map(({ type }) => type)).toEqual(['message', 'message']);
  });

  test('do not keep the conversation from a response', () => {
    const bench = textSession();
    const other = requestOutOfBand(bench);
    const main = requestResponse(bench);
    expect(bench.state.response?.id).toBe(main);
    expect(errorOf(bench.send({ type: 'response.create' }))).toMatchObject({
      code: 'conversation_already_has_active_response',
    });
    finish(bench, other, 'x');
    expect(bench.state.response?.id).toBe(main);
  });

  test('are cancelled by their id only', () => {
    const bench = textSession();
    const other = requestOutOfBand(bench);
    expect(errorOf(bench.send({ type: 'response.cancel' }))).toMatchObject({
      code: 'response_cancel_not_active',
    });
    const events = bench.send({ type: 'response.cancel', response_id: other });
    expect(doneOf(events)).toMatchObject({ id: other, status: 'cancelled' });
    expect(bench.last('stop').response).toBe(other);
    expect(bench.dispatch({ kind: 'text', response: other, text: 'late' })).toEqual([]);
  });

  test('are not interrupted by speech', () => {
    const bench = new SessionBench();
    const other = requestOutOfBand(bench);
    expect(types(bench.append(quiet(200), tone(600)))).toEqual(['input_audio_buffer.speech_started']);
    bench.dispatch({ kind: 'text', response: other, text: 'Hi' });
    bench.dispatch({ ...ANSWERED, response: other });
    expect(doneOf(bench.dispatch({ ...SPOKEN, response: other }))).toMatchObject({ status: 'completed' });
  });

  test('wait for the transcripts of the conversation that they read', () => {
    const bench = textSession();
    bench.update({ audio: { input: { turn_detection: null } } });
    bench.append(tone(300));
    bench.send({ type: 'input_audio_buffer.commit' });
    const { item } = bench.last('transcribe');
    bench.send({ type: 'response.create', response: { conversation: 'none' } });
    bench.send({ type: 'response.create' });
    expect(bench.effects.filter(({ kind }) => kind === 'answer')).toEqual([]);
    bench.dispatch({ kind: 'transcribed', item, text: 'hello', seconds: 1, ms: 1 });
    const started = bench.effects.filter((effect) => effect.kind === 'answer');
    expect(started).toHaveLength(2);
    for (const { chat } of started)
      expect(chat.items).toMatchObject([{ content: [{ transcript: 'hello' }] }]);
  });

  test('fail with the transcript that they wait for', () => {
    const bench = textSession();
    bench.update({ audio: { input: { turn_detection: null } } });
    bench.append(tone(300));
    bench.send({ type: 'input_audio_buffer.commit' });
    const { item } = bench.last('transcribe');
    bench.send({ type: 'response.create', response: { conversation: 'none' } });
    const error = { type: 'invalid_request_error', code: 'request.invalid', message: 'No.' };
    const events = bench.dispatch({ kind: 'transcription_failed', item, error });
    expect(doneOf(events)).toMatchObject({ status: 'failed', status_details: { error } });
    expect(bench.state.sideResponses).toEqual([]);
  });

  test('are limited in number', () => {
    const bench = textSession();
    for (let count = 0; count < 8; count++) requestOutOfBand(bench);
    const refused = bench.send({
      type: 'response.create',
      event_id: 'ninth',
      response: { conversation: 'none', input: [ITEM] },
    });
    expect(errorOf(refused)).toMatchObject({ code: 'too_many_active_responses', event_id: 'ninth' });
  });
});
