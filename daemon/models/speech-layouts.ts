/** The roles of a speech model's files, as sherpa-onnx publishes them. */
export type SpeechRole =
  | 'model'
  | 'voices'
  | 'vocoder'
  | 'encoder'
  | 'decoder'
  | 'joiner'
  | 'preprocessor'
  | 'uncachedDecoder'
  | 'cachedDecoder'
  | 'mergedDecoder'
  | 'tokens'
  | 'dataDir';

/** Names of a model's files (and folders) by role. */
export type SpeechFiles = Partial<Record<SpeechRole, string>>;

export type LayoutId =
  | 'transducer'
  | 'moonshine'
  | 'moonshine-merged'
  | 'voices'
  | 'encoder-decoder'
  | 'vocoder'
  | 'single';

interface Layout {
  readonly id: LayoutId;
  /** A name that only this layout has. Its presence decides. */
  readonly mark: RegExp;
  /** Name pattern of each file, and its usual name for messages. */
  readonly needs: Partial<Record<SpeechRole, readonly [RegExp, string]>>;
  readonly mayHave?: Partial<Record<SpeechRole, RegExp>>;
  /** The file whose metadata contains the family. Null when the layout determines it. */
  readonly key: SpeechRole | null;
}

const TOKENS = [/(^|[-_.])tokens\.txt$/i, 'tokens.txt'] as const;
const DATA = /^espeak-ng-data$/;
const NOT_THE_MODEL = /vad|vocos|hifigan|speaker-embedding/i;
const ONNX = /\.onnx$/i;

/** The layouts, most specific first. */
const LAYOUTS: readonly Layout[] = [
  {
    id: 'transducer',
    mark: /joiner.*\.onnx$/i,
    needs: {
      encoder: [/encoder.*\.onnx$/i, 'encoder.onnx'],
      decoder: [/decoder.*\.onnx$/i, 'decoder.onnx'],
      joiner: [/joiner.*\.onnx$/i, 'joiner.onnx'],
      tokens: TOKENS,
    },
    key: 'encoder',
  },
  {
    id: 'moonshine',
    mark: /^(preprocess|uncached_decode|cached_decode)(\..*)?\.onnx$/i,
    needs: {
      preprocessor: [/^preprocess.*\.onnx$/i, 'preprocess.onnx'],
      encoder: [/^encode.*\.onnx$/i, 'encode.onnx'],
      uncachedDecoder: [/^uncached_decode.*\.onnx$/i, 'uncached_decode.onnx'],
      cachedDecoder: [/^cached_decode.*\.onnx$/i, 'cached_decode.onnx'],
      tokens: TOKENS,
    },
    key: null,
  },
  {
    id: 'moonshine-merged',
    mark: /^decoder_model_merged.*\.ort$/i,
    needs: {
      encoder: [/^encoder_model.*\.ort$/i, 'encoder_model.ort'],
      mergedDecoder: [/^decoder_model_merged.*\.ort$/i, 'decoder_model_merged.ort'],
      tokens: TOKENS,
    },
    key: null,
  },
  {
    id: 'voices',
    mark: /^voices.*\.bin$/i,
    needs: {
      model: [ONNX, 'model.onnx'],
      voices: [/^voices.*\.bin$/i, 'voices.bin'],
      tokens: TOKENS,
    },
    mayHave: { dataDir: DATA },
    key: 'model',
  },
  {
    id: 'encoder-decoder',
    mark: /(^|[-_.])(encoder|decoder)([-_.].*)?\.onnx$/i,
    needs: {
      encoder: [/encoder.*\.onnx$/i, 'encoder.onnx'],
      decoder: [/decoder.*\.onnx$/i, 'decoder.onnx'],
      tokens: TOKENS,
    },
    key: 'encoder',
  },
  {
    id: 'vocoder',
    mark: /^(vocos|hifigan).*\.onnx$/i,
    needs: {
      model: [ONNX, 'model-steps-3.onnx'],
      vocoder: [/^(vocos|hifigan).*\.onnx$/i, 'vocos-22khz-univ.onnx'],
      tokens: TOKENS,
    },
    mayHave: { dataDir: DATA },
    key: 'model',
  },
  {
    id: 'single',
    mark: TOKENS[0],
    needs: { model: [ONNX, 'model.onnx'], tokens: TOKENS },
    mayHave: { dataDir: DATA },
    key: 'model',
  },
];

export interface FoundLayout {
  readonly id: LayoutId;
  readonly files: SpeechFiles;
  /** Usual names of missing files. */
  readonly missing: readonly string[];
  /** Name of the file whose metadata contains the family. Null when the layout determines it. */
  readonly key: string | null;
  /** Additional files of some families: word lists and rewriting rules. */
  readonly lexicons: readonly string[];
  readonly rules: readonly string[];
}

/**
 * Selects one of several files for a role: the eight-bit one, because these models run on the CPU, then the
 * shortest name.
 */
function choose(names: readonly string[]): string | undefined {
  const rank = (name: string) => (/int8|quant/i.test(name) ? 0 : 1_000) + name.length;
  return [...names].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))[0];
}

function fileFor(role: SpeechRole, pattern: RegExp, names: readonly string[]): string | undefined {
  const fitting = names.filter((name) => pattern.test(name));
  return choose(role === 'model' ? fitting.filter((name) => !NOT_THE_MODEL.test(name)) : fitting);
}

/**
 * Returns the layout of the speech model in a folder, by the names in it (`espeak-ng-data` is a folder). Null
 * when there is none. A folder with an ONNX file and no sign of speech is none, because ONNX files contain
 * many other models. Pure.
 */
export function layoutOf(names: readonly string[]): FoundLayout | null {
  if (!names.some((name) => /\.(onnx|ort)$/i.test(name))) return null;
  const layout = LAYOUTS.find(({ mark }) => names.some((name) => mark.test(name)));
  if (
    layout === undefined ||
    (layout.id === 'encoder-decoder' && !names.some((name) => TOKENS[0].test(name)))
  )
    return null;
  const files: SpeechFiles = {};
  const missing: string[] = [];
  for (const [role, [pattern, usual]] of Object.entries(layout.needs) as [
    SpeechRole,
    readonly [RegExp, string],
  ][]) {
    const name = fileFor(role, pattern, names);
    if (name === undefined) missing.push(usual);
    else files[role] = name;
  }
  for (const [role, pattern] of Object.entries(layout.mayHave ?? {}) as [SpeechRole, RegExp][]) {
    const name = fileFor(role, pattern, names);
    if (name !== undefined) files[role] = name;
  }
  return {
    id: layout.id,
    files,
    missing,
    key: layout.key === null ? null : (files[layout.key] ?? null),
    lexicons: names.filter((name) => /^lexicon.*\.txt$/i.test(name)).sort(),
    rules: names.filter((name) => /\.fst$/i.test(name)).sort(),
  };
}
