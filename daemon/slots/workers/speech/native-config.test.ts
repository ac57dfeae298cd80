import { expect, test } from 'vitest';
import type { SpeechMetadata } from '../../../models/speech-metadata.ts';
import { recogniserConfig, supportsLanguage, voiceConfig } from './native-config.ts';

const facts = (more: Partial<SpeechMetadata>): SpeechMetadata => ({
  kind: 'speech',
  type: 'tts',
  family: 'vits',
  modelType: null,
  files: {},
  lexicons: [],
  rules: [],
  voices: [],
  languages: [],
  sampleRate: null,
  language: null,
  quantization: null,
  sizeBytes: 1,
  ...more,
});

test.each([
  [
    facts({ files: { model: '/m', tokens: '/t', dataDir: '/d' } }),
    { vits: { model: '/m', tokens: '/t', dataDir: '/d' } },
  ],
  [
    facts({ files: { model: '/m' }, inference: { noiseScale: 0.333, noiseScaleW: 0, lengthScale: 2 } }),
    // The library takes 0 for its default.
    { vits: { model: '/m', tokens: '', noiseScale: 0.333, noiseScaleW: 1e-6 } },
  ],
  [
    facts({
      family: 'kokoro',
      files: { model: '/m', voices: '/v', tokens: '/t', dataDir: '/d' },
      lexicons: ['/a', '/b'],
    }),
    { kokoro: { model: '/m', voices: '/v', tokens: '/t', dataDir: '/d', lexicon: '/a,/b' } },
  ],
  [
    facts({ family: 'matcha', files: { model: '/m', vocoder: '/w', tokens: '/t' } }),
    { matcha: { acousticModel: '/m', vocoder: '/w', tokens: '/t' } },
  ],
])('voice %#', (found, model) => {
  expect(voiceConfig(found, 3)).toEqual({
    model: { ...model, numThreads: 3, provider: 'cpu' },
    maxNumSentences: 1,
  });
});

test('rules are passed with the model', () => {
  expect(voiceConfig(facts({ rules: ['/x.fst', '/y.fst'] }), 1)).toMatchObject({ ruleFsts: '/x.fst,/y.fst' });
});

test.each([
  [
    facts({ type: 'stt', family: 'whisper', files: { encoder: '/e', decoder: '/d', tokens: '/t' } }),
    'de',
    { whisper: { encoder: '/e', decoder: '/d', language: 'de', task: 'transcribe' }, tokens: '/t' },
  ],
  [
    facts({ type: 'stt', family: 'whisper', files: { encoder: '/e', tokens: '/t' }, hasAlignment: true }),
    null,
    { whisper: { encoder: '/e', language: '', task: 'transcribe', enableTokenTimestamps: 1 }, tokens: '/t' },
  ],
  [
    facts({ type: 'stt', family: 'senseVoice', files: { model: '/m', tokens: '/t' } }),
    null,
    { senseVoice: { model: '/m', language: 'auto', useInverseTextNormalization: 1 }, tokens: '/t' },
  ],
  [
    facts({ type: 'stt', family: 'canary', files: { encoder: '/e', decoder: '/d', tokens: '/t' } }),
    'fr',
    { canary: { encoder: '/e', decoder: '/d', srcLang: 'fr', tgtLang: 'fr', usePnc: 1 }, tokens: '/t' },
  ],
  [
    facts({ type: 'stt', family: 'omnilingual', files: { model: '/m', tokens: '/t' } }),
    null,
    { omnilingual: { model: '/m' }, tokens: '/t' },
  ],
  [
    facts({
      type: 'stt',
      family: 'transducer',
      modelType: 'nemo_transducer',
      files: { encoder: '/e', decoder: '/d', joiner: '/j', tokens: '/t' },
    }),
    null,
    {
      transducer: { encoder: '/e', decoder: '/d', joiner: '/j' },
      tokens: '/t',
      modelType: 'nemo_transducer',
    },
  ],
])('recogniser %#', (found, language, model) => {
  expect(recogniserConfig(found, 2, language)).toEqual({
    featConfig: { sampleRate: 16_000, featureDim: 80 },
    modelConfig: { ...model, numThreads: 2, provider: 'cpu' },
  });
});

test('only some families accept a language', () => {
  expect(supportsLanguage(facts({ family: 'whisper' }))).toBe(true);
  expect(supportsLanguage(facts({ family: 'omnilingual' }))).toBe(false);
});
