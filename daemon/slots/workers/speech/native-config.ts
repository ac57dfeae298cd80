import type { SpeechMetadata } from '../../../models/speech-metadata.ts';

type Section = Readonly<Record<string, string | number>>;

const list = (paths: readonly string[]): string => paths.join(',');
const optional = (name: string, value: string | undefined): Section =>
  value === undefined || value === '' ? {} : { [name]: value };

/** The library takes 0 for its default. */
const NO_NOISE = 1e-6;

/** Returns the variation that the settings of a voice state. Its length is a part of the speed of each request. */
const noiseSection = ({ inference = {} }: SpeechMetadata): Section =>
  Object.fromEntries(
    (['noiseScale', 'noiseScaleW'] as const).flatMap((name) => {
      const value = inference[name];
      return value === undefined ? [] : [[name, Math.max(value, NO_NOISE)]];
    }),
  );

function voiceSection(metadata: SpeechMetadata): Section {
  const { family, files, lexicons } = metadata;
  const { model = '', voices = '', vocoder = '', tokens = '', dataDir } = files;
  const common = { tokens, ...optional('dataDir', dataDir), ...optional('lexicon', list(lexicons)) };
  if (family === 'matcha') return { acousticModel: model, vocoder, ...common };
  if (family === 'kokoro' || family === 'kitten') return { model, voices, ...common };
  return { model, ...common, ...noiseSection(metadata) };
}

/** Returns the native library's configuration of a voice. Pure. */
export function voiceConfig(metadata: SpeechMetadata, threads: number): object {
  return {
    model: { [metadata.family]: voiceSection(metadata), numThreads: threads, provider: 'cpu' },
    maxNumSentences: 1,
    ...optional('ruleFsts', list(metadata.rules)),
  };
}

/** Families that accept a language: the field, and the value for automatic detection. */
const LANGUAGE_FIELD: Partial<Record<SpeechMetadata['family'], readonly [field: string, auto: string]>> = {
  whisper: ['language', ''],
  senseVoice: ['language', 'auto'],
  canary: ['srcLang', 'en'],
};

/** Returns whether a recogniser accepts a language. */
export const supportsLanguage = ({ family }: SpeechMetadata): boolean => family in LANGUAGE_FIELD;

function recogniserSection(
  { family, files, hasAlignment }: SpeechMetadata,
  language: string | null,
): Section {
  const { tokens: _, dataDir: __, ...parts } = files;
  const [field, auto] = LANGUAGE_FIELD[family] ?? [];
  const spoken = field === undefined ? {} : { [field]: language ?? (auto as string) };
  if (family === 'senseVoice') return { ...parts, ...spoken, useInverseTextNormalization: 1 };
  if (family === 'canary') return { ...parts, ...spoken, tgtLang: language ?? 'en', usePnc: 1 };
  if (family === 'whisper')
    return { ...parts, ...spoken, task: 'transcribe', ...(hasAlignment && { enableTokenTimestamps: 1 }) };
  return { ...parts, ...spoken };
}

/** Returns the native library's configuration of a recogniser. Language null: automatic detection. Pure. */
export function recogniserConfig(metadata: SpeechMetadata, threads: number, language: string | null): object {
  return {
    featConfig: { sampleRate: 16_000, featureDim: 80 },
    modelConfig: {
      [metadata.family]: recogniserSection(metadata, language),
      tokens: metadata.files.tokens ?? '',
      numThreads: threads,
      provider: 'cpu',
      ...optional('modelType', metadata.modelType ?? undefined),
    },
  };
}
