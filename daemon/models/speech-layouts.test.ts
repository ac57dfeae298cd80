import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { familyOf } from './speech-families.ts';
import { layoutOf } from './speech-layouts.ts';
import { voicesOf } from './speech-voices.ts';

/** Listings of published folders, with the `model_type` of the key file. */
const PUBLISHED: readonly [string, string[], string | undefined, object][] = [
  [
    'Piper',
    ['en_US-amy-low.onnx', 'en_US-amy-low.onnx.json', 'tokens.txt', 'espeak-ng-data', 'MODEL_CARD'],
    'vits',
    { type: 'tts', family: 'vits' },
  ],
  ['VITS by characters', ['model.onnx', 'tokens.txt'], 'vits', { type: 'tts', family: 'vits' }],
  [
    'Kokoro',
    [
      'model.onnx',
      'voices.bin',
      'tokens.txt',
      'espeak-ng-data',
      'lexicon-us-en.txt',
      'lexicon-zh.txt',
      'dict',
    ],
    'kokoro',
    { type: 'tts', family: 'kokoro' },
  ],
  [
    'Kokoro of the first version',
    ['model.onnx', 'voices.bin', 'tokens.txt', 'espeak-ng-data'],
    undefined,
    { type: 'tts', family: 'kokoro' },
  ],
  [
    'Kitten',
    ['model.fp16.onnx', 'voices.bin', 'tokens.txt', 'espeak-ng-data'],
    'kitten-tts',
    { type: 'tts', family: 'kitten' },
  ],
  [
    'Matcha',
    ['model-steps-3.onnx', 'vocos-22khz-univ.onnx', 'tokens.txt', 'espeak-ng-data'],
    'matcha-tts',
    { type: 'tts', family: 'matcha' },
  ],
  [
    'Whisper',
    ['tiny.en-encoder.onnx', 'tiny.en-encoder.int8.onnx', 'tiny.en-decoder.onnx', 'tiny.en-tokens.txt'],
    'whisper-tiny.en',
    { type: 'stt', family: 'whisper' },
  ],
  [
    'Moonshine',
    [
      'preprocess.onnx',
      'encode.int8.onnx',
      'uncached_decode.int8.onnx',
      'cached_decode.int8.onnx',
      'tokens.txt',
    ],
    undefined,
    { type: 'stt', family: 'moonshine' },
  ],
  [
    'Moonshine with one decoder',
    ['encoder_model.ort', 'decoder_model_merged.ort', 'tokens.txt'],
    undefined,
    { type: 'stt', family: 'moonshine' },
  ],
  ['SenseVoice', ['model.int8.onnx', 'tokens.txt'], 'sense_voice_ctc', { type: 'stt', family: 'senseVoice' }],
  ['Omnilingual', ['model.onnx', 'tokens.txt'], 'omnilingual-asr', { type: 'stt', family: 'omnilingual' }],
  [
    'a transducer',
    [
      'encoder-epoch-99-avg-1.onnx',
      'decoder-epoch-99-avg-1.onnx',
      'joiner-epoch-99-avg-1.onnx',
      'tokens.txt',
    ],
    'zipformer2',
    { type: 'stt', family: 'transducer', modelType: null },
  ],
  [
    'Parakeet',
    ['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt'],
    'EncDecRNNTBPEModel',
    { type: 'stt', family: 'transducer', modelType: 'nemo_transducer' },
  ],
  ['NeMo CTC', ['model.onnx', 'tokens.txt'], 'EncDecCTCModelBPE', { type: 'stt', family: 'nemoCtc' }],
  [
    'Canary',
    ['encoder.int8.onnx', 'decoder.int8.onnx', 'tokens.txt'],
    'EncDecMultiTaskModel',
    { family: 'canary' },
  ],
];

describe('published folders', () => {
  test.each(PUBLISHED)('%s', (_, names, model_type, expected) => {
    const layout = layoutOf(names);
    expect(layout?.missing).toEqual([]);
    if (layout === null) throw new Error('no layout');
    expect(familyOf(layout, model_type === undefined ? {} : { model_type })).toMatchObject(expected);
  });

  test.each(PUBLISHED)(
    '%s without one of its files reports the file, or is not a speech model',
    (_, names) => {
      const whole = layoutOf(names);
      for (const path of Object.values(whole?.files ?? {})) {
        const rest = layoutOf(names.filter((name) => name !== path));
        const complete = rest !== null && rest.missing.length === 0;
        if (complete) expect(Object.values(rest.files)).not.toContain(path);
      }
    },
  );
});

test('prefers the eight-bit file of two', () => {
  const files = layoutOf(['a-encoder.onnx', 'a-encoder.int8.onnx', 'a-decoder.onnx', 'a-tokens.txt'])?.files;
  expect(files).toEqual({
    encoder: 'a-encoder.int8.onnx',
    decoder: 'a-decoder.onnx',
    tokens: 'a-tokens.txt',
  });
});

test('finds the additional files of a family', () => {
  const layout = layoutOf([
    'model.onnx',
    'tokens.txt',
    'lexicon.txt',
    'date.fst',
    'number.fst',
    'silero_vad.onnx',
  ]);
  expect(layout).toMatchObject({
    files: { model: 'model.onnx' },
    lexicons: ['lexicon.txt'],
    rules: ['date.fst', 'number.fst'],
  });
});

test.each([
  ['an embedding model', ['model.onnx', 'tokenizer.json', 'config.json']],
  ['a text model in two parts', ['encoder_model.onnx', 'decoder_model.onnx', 'config.json']],
  ['GGUF files', ['a.gguf', 'tokens.txt']],
  ['nothing', []],
])('%s is not a speech model', (_, names) => expect(layoutOf(names)).toBeNull());

test.each([
  [['model.onnx', 'voices.bin', 'espeak-ng-data'], ['tokens.txt']],
  [
    ['preprocess.onnx', 'encode.onnx', 'tokens.txt'],
    ['uncached_decode.onnx', 'cached_decode.onnx'],
  ],
  [
    ['joiner.onnx', 'tokens.txt'],
    ['encoder.onnx', 'decoder.onnx'],
  ],
  [['vocos-22khz-univ.onnx', 'tokens.txt'], ['model-steps-3.onnx']],
])('%j lacks %j', (names, missing) => expect(layoutOf(names)?.missing).toEqual(missing));

test.each([
  [{ model_type: 'matcha-tts' }, 'vocos-22khz-univ.onnx is missing'],
  [{ model_type: 'bert' }, 'speech models of the kind "bert" cannot be served'],
  [{}, 'model.onnx does not state the kind of speech model'],
])('a single file with %j: %s', (metadata, reason) => {
  const layout = layoutOf(['model.onnx', 'tokens.txt']);
  if (layout === null) throw new Error('no layout');
  expect(familyOf(layout, metadata)).toEqual({ reason });
});

test('an old VITS model is recognised by its speakers', () => {
  const layout = layoutOf(['model.onnx', 'tokens.txt']);
  if (layout === null) throw new Error('no layout');
  expect(familyOf(layout, { n_speakers: '1', sample_rate: '16000' })).toMatchObject({ family: 'vits' });
});

test('no listing crashes it', () => {
  const part = fc.constantFrom(
    'encoder',
    'decoder',
    'joiner',
    'model',
    'tokens.txt',
    '.onnx',
    '.int8',
    '-',
    'voices.bin',
  );
  const name = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(name, { maxLength: 8 }), (names) => {
      const layout = layoutOf(names);
      for (const file of Object.values(layout?.files ?? {})) expect(names).toContain(file);
    }),
  );
});

describe('voices', () => {
  test.each([
    [{ n_speakers: '1' }, null, ['default']],
    [{}, null, ['default']],
    [{ n_speakers: '3' }, null, ['0', '1', '2']],
    [{ n_speakers: '2', speaker_names: 'af_bella,am_adam' }, null, ['af_bella', 'am_adam']],
    [{ n_speakers: '2', speaker_names: 'a,b,c' }, null, ['0', '1']],
    [{ n_speakers: '2', speaker_names: 'a,a' }, null, ['0', '1']],
    [{ n_speakers: '2', speaker_names: 'a,<b>' }, null, ['0', '1']],
    [{ n_speakers: '2' }, { speaker_id_map: { p2: 1, p1: 0 } }, ['p1', 'p2']],
    [{ n_speakers: '2' }, { speaker_id_map: { p2: 1 } }, ['0', '1']],
    [{ n_speakers: '2' }, 'x', ['0', '1']],
    [{ n_speakers: '-4' }, null, ['default']],
  ])('%j %j: %j', (metadata, json, voices) => expect(voicesOf(metadata, json)).toEqual(voices));

  test('are limited', () => expect(voicesOf({ n_speakers: '1e9' }, null)).toHaveLength(2_048));
});
