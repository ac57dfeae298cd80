import { describe, expect, test } from 'vitest';
import { piperSettings } from './onnx/testing/tone-piper.ts';
import { isPiperVoice, piperVoiceOf, voiceInference } from './piper-voice.ts';

test.each([
  ['en_US-joe-medium.onnx', true],
  ['EN.ONNX', true],
  ['lonely.onnx', false],
  ['en_US-joe-medium.onnx.json', false],
  ['model.gguf', false],
])('%s is a voice: %s', (name, expected) => {
  const names = new Set([
    'en_US-joe-medium.onnx',
    'en_US-joe-medium.onnx.json',
    'EN.ONNX',
    'EN.ONNX.json',
    'lonely.onnx',
  ]);
  expect(isPiperVoice(name, names)).toBe(expected);
});

describe('piperVoiceOf', () => {
  test('the facts that the native library needs', () => {
    expect(piperVoiceOf(piperSettings({ num_speakers: 3 }))).toMatchObject({
      metadata: {
        model_type: 'vits',
        comment: 'piper',
        language: 'English',
        voice: 'en-us',
        has_espeak: '1',
        n_speakers: '3',
        sample_rate: '16000',
      },
    });
  });

  test('settings of older voices have no language and no speakers', () => {
    const settings = piperSettings({ language: undefined, num_speakers: undefined, phoneme_type: undefined });
    expect(piperVoiceOf(settings)).toMatchObject({ metadata: { language: 'en-us', n_speakers: '1' } });
  });

  test('tokens are one character with a number each; the library ends the process for others', () => {
    const phoneme_id_map = {
      _: [0],
      '^': [1],
      $: [2],
      ' ': [3],
      '\n': [4],
      ch: [5],
      '😀': [6],
      x: [],
      y: ['7'],
      z: [8, 9],
    };
    const voice = piperVoiceOf(piperSettings({ phoneme_id_map }));
    expect('tokens' in voice && voice.tokens).toBe('_ 0\n^ 1\n$ 2\n  3\n😀 6\nz 8\n');
  });

  test.each([
    [null, 'no phoneme_id_map, so it is not a Piper voice'],
    [[], 'no phoneme_id_map, so it is not a Piper voice'],
    [{ config: 1 }, 'no phoneme_id_map, so it is not a Piper voice'],
    [piperSettings({ phoneme_id_map: [1] }), 'no phoneme_id_map, so it is not a Piper voice'],
    [piperSettings({ phoneme_type: 'text' }), 'phoneme_type "text" cannot be served; espeak can'],
    [piperSettings({ phoneme_type: 'pinyin' }), 'phoneme_type "pinyin" cannot be served; espeak can'],
    [piperSettings({ audio: {} }), 'no audio.sample_rate'],
    [piperSettings({ audio: { sample_rate: '22050' } }), 'no audio.sample_rate'],
    [piperSettings({ espeak: undefined }), 'no espeak.voice'],
    [piperSettings({ espeak: { voice: 'a\nb' } }), 'no espeak.voice'],
    [piperSettings({ phoneme_id_map: { a: [1] } }), 'phoneme_id_map lacks _ ^ $'],
  ])('%# is refused with its fault', (settings, reason) => {
    expect(piperVoiceOf(settings)).toEqual({ reason });
  });
});

test.each([
  [
    { noise_scale: 0.333, length_scale: 1.2, noise_w: 0 },
    { noiseScale: 0.333, lengthScale: 1.2, noiseScaleW: 0 },
  ],
  [{ noise_scale: -1, length_scale: 0, noise_w: '0.8' }, {}],
  [{ noise_scale: null, length_scale: 1e9 }, {}],
  [undefined, {}],
  [[1], {}],
])('the values of inference %j', (inference, expected) => {
  expect(voiceInference(piperSettings({ inference }))).toEqual(expected);
});

test('settings that cannot be read have no values of inference', () => {
  expect(voiceInference(null)).toEqual({});
});
