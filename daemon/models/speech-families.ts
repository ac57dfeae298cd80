import type { FoundLayout } from './speech-layouts.ts';

/** The names of model types in sherpa-onnx's configuration. */
export type SpeechFamily =
  | 'vits'
  | 'kokoro'
  | 'kitten'
  | 'matcha'
  | 'whisper'
  | 'moonshine'
  | 'senseVoice'
  | 'omnilingual'
  | 'nemoCtc'
  | 'zipformerCtc'
  | 'wenetCtc'
  | 'paraformer'
  | 'dolphin'
  | 'canary'
  | 'transducer';

export interface FoundFamily {
  readonly type: 'tts' | 'stt';
  readonly family: SpeechFamily;
  /** A setting that a recogniser needs in addition to its files, because the library cannot detect it. */
  readonly modelType: string | null;
}

type Metadata = Readonly<Record<string, string>>;
type Rule = readonly [RegExp, FoundFamily];

const tts = (family: SpeechFamily): FoundFamily => ({ type: 'tts', family, modelType: null });
const stt = (family: SpeechFamily, modelType: string | null = null): FoundFamily => ({
  type: 'stt',
  family,
  modelType,
});

/** Maps `model_type` of the key file to a family, for each layout. */
const RULES: Readonly<Record<FoundLayout['id'], readonly Rule[]>> = {
  single: [
    [/^vits/, tts('vits')],
    [/^sense_voice_ctc/, stt('senseVoice')],
    [/^omnilingual-asr/, stt('omnilingual')],
    [/^EncDec(CTC|Hybrid)/, stt('nemoCtc')],
    [/^zipformer2_ctc/, stt('zipformerCtc')],
    [/^wenet_ctc/, stt('wenetCtc')],
    [/^paraformer/, stt('paraformer')],
    [/^dolphin/, stt('dolphin')],
  ],
  voices: [
    [/^kitten/, tts('kitten')],
    [/^(kokoro.*)?$/, tts('kokoro')],
  ],
  vocoder: [[/^matcha/, tts('matcha')]],
  'encoder-decoder': [
    [/^whisper/, stt('whisper')],
    [/^EncDecMultiTask/, stt('canary')],
  ],
  moonshine: [[/^/, stt('moonshine')]],
  'moonshine-merged': [[/^/, stt('moonshine')]],
  transducer: [
    [/^EncDec/, stt('transducer', 'nemo_transducer')],
    [/^(conformer|zipformer|lstm|$)/, stt('transducer')],
  ],
};

/**
 * Returns the family of a complete model by the metadata of its key file, or why it cannot be served. The
 * native library ends the process for an unknown model, so unknown models are never passed to it. Pure.
 */
export function familyOf(layout: FoundLayout, metadata: Metadata): FoundFamily | { reason: string } {
  const kind = metadata.model_type ?? '';
  const known = RULES[layout.id].find(([pattern]) => pattern.test(kind))?.[1];
  if (known !== undefined) return known;
  if (layout.id === 'single' && kind === '' && 'n_speakers' in metadata && 'sample_rate' in metadata)
    return tts('vits');
  if (layout.id === 'single' && kind.startsWith('matcha'))
    return { reason: 'vocos-22khz-univ.onnx is missing' };
  if (kind !== '') return { reason: `speech models of the kind "${kind.slice(0, 40)}" cannot be served` };
  return { reason: `${layout.key ?? 'its ONNX file'} does not state the kind of speech model` };
}
