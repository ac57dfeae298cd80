import { describe, expect, it } from 'vitest';
import type { ServerEvent, ServerEventType } from '../../../../daemon/contract/realtime.ts';
import { EMPTY_TRANSCRIPT, type Transcript, timesOf, withEvent } from './transcript.ts';

let count = 0;
const event = (type: ServerEventType, fields: object = {}): ServerEvent => ({
  type,
  event_id: `event_${count++}`,
  ...fields,
});
const transcriptOf = (events: readonly ServerEvent[], from: Transcript = EMPTY_TRANSCRIPT): Transcript =>
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

const STARTED = [
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
  it('contains both sides and the stage times of the answer', () => {
    const going = transcriptOf(STARTED);
    expect(going).toMatchObject({ response: 'r1', speaking: false, modality: 'audio' });
    const ended = withEvent(going, done('completed'));
    expect(ended.response).toBeNull();
    expect(ended.turns).toMatchObject([
      { who: 'you', text: 'what a day.', state: 'done' },
      {
        who: 'model',
        text: 'All is well.',
        state: 'done',
        times: { transcription: 12, firstToken: 30, total: 90, audio: null },
      },
    ]);
  });

  it('of an answer that was interrupted ends where playback stopped', () => {
    const cut = transcriptOf([
      ...STARTED,
      done('cancelled'),
      event('conversation.item.retrieved', {
        item: { ...model, content: [{ type: 'output_audio', transcript: 'All' }] },
      }),
    ]);
    expect(cut.turns.at(-1)).toMatchObject({ text: 'All', state: 'cut' });
  });

  it('of an answer that was complete before it was interrupted ends there too', () => {
    const cut = transcriptOf([
      ...STARTED,
      done('completed'),
      event('conversation.item.truncated', { item_id: model.id, content_index: 0, audio_end_ms: 40 }),
    ]);
    expect(cut.turns.at(-1)?.state).toBe('cut');
  });

  it('shows a failure until the next answer starts', () => {
    const error = { code: 'slot.failed', message: 'The slot has failed.' };
    const failed = transcriptOf([...STARTED, done('failed', { status_details: { type: 'failed', error } })]);
    expect(failed.fault).toEqual(error);
    expect(failed.turns.at(-1)?.state).toBe('failed');
    expect(withEvent(failed, event('response.created', { response: { id: 'r2' } })).fault).toBeNull();
    const refused = withEvent(
      EMPTY_TRANSCRIPT,
      event('error', { error: { ...error, type: 'server_error' } }),
    );
    expect(refused.fault).toEqual(error);
    const untranscribed = transcriptOf([
      event('conversation.item.added', { item: user }),
      event('conversation.item.input_audio_transcription.failed', { item_id: 'i1', error }),
    ]);
    expect(untranscribed.turns[0]?.state).toBe('unheard');
  });

  it('ignores events that change nothing, completes typed messages at once, and is bounded', () => {
    expect(withEvent(EMPTY_TRANSCRIPT, event('input_audio_buffer.cleared'))).toBe(EMPTY_TRANSCRIPT);
    const typed = { ...user, content: [{ type: 'input_text', text: 'hello' }] };
    const one = withEvent(EMPTY_TRANSCRIPT, event('conversation.item.added', { item: typed }));
    expect(one.turns).toMatchObject([{ text: 'hello', state: 'done' }]);
    const many = transcriptOf(
      Array.from({ length: 250 }, (_, at) =>
        event('conversation.item.added', { item: { ...typed, id: `i${at}` } }),
      ),
    );
    expect(many.turns).toHaveLength(200);
  });

  it('returns null for each stage without a measurement', () => {
    expect(timesOf(null)).toEqual({
      transcription: null,
      firstToken: null,
      text: null,
      firstAudio: null,
      audio: null,
      total: null,
    });
  });
});
