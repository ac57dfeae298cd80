import { describe, expect, test } from 'vitest';
import type { ServerEvent } from '../../contract/realtime.ts';
import { withCurrentNames } from './beta-names.ts';
import { errorOf, SessionBench } from './testing/session-bench.ts';

const ULAW = { type: 'audio/pcmu' };

test.each([
  [{ input_audio_format: 'g711_ulaw' }, { audio: { input: { format: ULAW } } }],
  [{ input_audio_format: 'pcm16' }, { audio: { input: { format: { type: 'audio/pcm', rate: 24_000 } } } }],
  [{ output_audio_format: 'g711_alaw' }, { audio: { output: { format: { type: 'audio/pcma' } } } }],
  [{ turn_detection: null }, { audio: { input: { turn_detection: null } } }],
  [
    { input_audio_transcription: { model: 'whisper-1' } },
    { audio: { input: { transcription: { model: 'whisper-1' } } } },
  ],
  [{ voice: 'amy', speed: 2 }, { audio: { output: { voice: 'amy', speed: 2 } } }],
  [{ modalities: ['text', 'audio'] }, { output_modalities: ['audio'] }],
  [{ modalities: ['text'] }, { output_modalities: ['text'] }],
  [{ max_response_output_tokens: 9 }, { max_output_tokens: 9 }],
  [
    { voice: 'old', audio: { output: { voice: 'new' }, input: { format: ULAW } } },
    { audio: { output: { voice: 'new' }, input: { format: ULAW } } },
  ],
])('%j', (settings, expected) => {
  expect(withCurrentNames(settings)).toMatchObject(expected);
});

test.each([null, undefined, 'text', [1], 7, { instructions: 'x' }, { audio: 3, voice: 'x' }])(
  '%j is left to the schema',
  (settings) => {
    if (settings !== null && typeof settings === 'object' && 'voice' in settings)
      expect(withCurrentNames(settings)).toEqual(settings);
    else expect(withCurrentNames(settings)).toBe(settings);
  },
);

describe('in a session', () => {
  test.each(['g711_ulaw', 'g711_alaw', 'pcm16'])('input_audio_format %s applies', (format) => {
    const [updated] = new SessionBench().update({ input_audio_format: format, output_audio_format: format });
    const { audio } = (updated as ServerEvent).session as {
      audio: { input: { format: object }; output: { format: object } };
    };
    expect(audio.input.format).toEqual(audio.output.format);
    expect(audio.input.format).toMatchObject({
      type: { g711_ulaw: 'audio/pcmu', g711_alaw: 'audio/pcma', pcm16: 'audio/pcm' }[format],
    });
  });

  test.each([
    [{ input_audio_format: 'mp3' }, 'session.audio.input.format'],
    [{ output_audio_format: { type: 'audio/mpeg' } }, 'session.audio.output.format'],
    [{ turn_detection: { type: 'none' } }, 'session.audio.input.turn_detection.type'],
    [{ modalities: [] }, 'session.output_modalities'],
    [{ speed: 99 }, 'session.audio.output.speed'],
  ])('a wrong value is refused under its current name: %j', (settings, param) => {
    const error = errorOf(new SessionBench().update(settings));
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
    expect(error?.code).toMatch(/^invalid_(value|type)$/);
  });

  test('response.create takes them too', () => {
    const bench = new SessionBench();
    const events = bench.send({
      type: 'response.create',
      response: { instructions: 'Say hello.', modalities: ['text'], max_response_output_tokens: 7 },
    });
    expect(events[0]?.response).toMatchObject({ output_modalities: ['text'], max_output_tokens: 7 });
  });
});
