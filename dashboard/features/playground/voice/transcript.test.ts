import { describe, expect, it } from 'vitest';
import type { ServerEvent, ServerEventType } from '../../../../daemon/contract/realtime.ts';
import { SILENT, type Transcript, timesOf, withEvent } from './transcript.ts';

let count = 0;
const event = (type: ServerEventType, fields: object = {}): ServerEvent => ({
  type,
  event_id: `event_${count++}`,
  ...fields,
});
const heard = (events: readonly ServerEvent[], from: Transcript = SILENT): Transcript =>
  events.reduce(withEvent, from);

const user = {
  id: 'i1',
  type: 'message',
  role: 'user',
  content: [{ type: 'input_audio', transcript: null }],
};
const model = { id: 'i2', type: 'message', role: 'assistant', content: [] };
const metadata = { svc_stt_ms: '12', svc_chat_first_ms: '30', svc_total_ms: '90' };
const done = (status: string, more: object = {}) =>
  event('response.done', { response: { id: 'r1', status, output: [model], metadata, ...more } });

const BEGUN = [
  event('session.created', { session: { output_modalities: ['audio'] } }),
  event('input_audio_buffer.speech_started', { item_id: 'i1' }),
  event('input_audio_buffer.speech_stopped', { item_id: 'i1' }),
  event('conversation.item.added', { item: user }),
  event('conversation.item.input_audio_transcription.completed', {
    item_id: 'i1',
    transcript: 'what a day.',
  }),
  event('response.created', { response: { id: 'r1' } }),
  event('conversation.item.added', { item: model }),
  event('response.output_audio_transcript.delta', { item_id: 'i2', delta: 'All ' }),
  event('response.output_audio_transcript.delta', { item_id: 'i2', delta: 'is well.' }),
];

describe('the transcript', () => {
  it('holds both sides, and the times of the answer', () => {
    const going = heard(BEGUN);
    expect(going).toMatchObject({ response: 'r1', speaking: false, modality: 'audio' });
    const ended = withEvent(going, done('completed'));
    expect(ended.response).toBeNull();
    expect(ended.turns).toMatchObject([
      { who: 'you', text: 'what a day.', state: 'done' },
      {
        who: 'model',
        text: 'All is well.',
        state: 'done',
        times: { heard: 12, firstWord: 30, total: 90, sound: null },
      },
    ]);
  });

  it('of an answer that was interrupted ends where it was heard', () => {
    const cut = heard([
      ...BEGUN,
      done('cancelled'),
      event('conversation.item.retrieved', {
        item: { ...model, content: [{ type: 'output_audio', transcript: 'All' }] },
      }),
    ]);
    expect(cut.turns.at(-1)).toMatchObject({ text: 'All', state: 'cut' });
  });

  it('of an answer that was complete before it was interrupted ends there too', () => {
    const cut = heard([
      ...BEGUN,
      done('completed'),
      event('conversation.item.truncated', { item_id: model.id, content_index: 0, audio_end_ms: 40 }),
    ]);
    expect(cut.turns.at(-1)?.state).toBe('cut');
  });

  it('tells what failed, and forgets it with the next answer', () => {
    const error = { code: 'slot.failed', message: 'The slot has failed.' };
    const failed = heard([...BEGUN, done('failed', { status_details: { type: 'failed', error } })]);
    expect(failed.fault).toEqual(error);
    expect(failed.turns.at(-1)?.state).toBe('failed');
    expect(withEvent(failed, event('response.created', { response: { id: 'r2' } })).fault).toBeNull();
    const refused = withEvent(SILENT, event('error', { error: { ...error, type: 'server_error' } }));
    expect(refused.fault).toEqual(error);
    const deaf = heard([
      event('conversation.item.added', { item: user }),
      event('conversation.item.input_audio_transcription.failed', { item_id: 'i1', error }),
    ]);
    expect(deaf.turns[0]?.state).toBe('unheard');
  });

  it('passes over what changes nothing, typed messages are complete at once, and it is bounded', () => {
    expect(withEvent(SILENT, event('input_audio_buffer.cleared'))).toBe(SILENT);
    const typed = { ...user, content: [{ type: 'input_text', text: 'hello' }] };
    const one = withEvent(SILENT, event('conversation.item.added', { item: typed }));
    expect(one.turns).toMatchObject([{ text: 'hello', state: 'done' }]);
    const many = heard(
      Array.from({ length: 250 }, (_, at) =>
        event('conversation.item.added', { item: { ...typed, id: `i${at}` } }),
      ),
    );
    expect(many.turns).toHaveLength(200);
  });

  it('takes no time for what was not measured', () => {
    expect(timesOf(null)).toEqual({
      heard: null,
      firstWord: null,
      words: null,
      firstSound: null,
      sound: null,
      total: null,
    });
  });
});
