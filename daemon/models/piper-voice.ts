/** Piper voices as Piper publishes them: `NAME.onnx` with its settings in `NAME.onnx.json`. */

const ONNX = /\.onnx$/i;

/** Returns the name of the settings of a voice file. */
export const piperSettingsName = (onnx: string): string => `${onnx}.json`;

/** Returns whether a file is a Piper voice, by the names in its folder. */
export const isPiperVoice = (name: string, names: ReadonlySet<string>): boolean =>
  ONNX.test(name) && names.has(piperSettingsName(name));

/** What sherpa-onnx must know of a Piper voice that the file itself does not contain. */
export interface PiperVoice {
  /** The metadata of the ONNX file (https://k2-fsa.github.io/sherpa/onnx/tts/piper.html). */
  readonly metadata: Readonly<Record<string, string>>;
  /** The content of `tokens.txt`. */
  readonly tokens: string;
}

type Json = Record<string, unknown>;

const asObject = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;

const asText = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w. ()-]{1,64}$/.test(value) ? value : null;

const asCount = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;

/** How a voice speaks, as its settings state it. */
export interface VoiceInference {
  /** Random variation of the sound. */
  readonly noiseScale?: number;
  /** Random variation of the lengths of phonemes. */
  readonly noiseScaleW?: number;
  /** Length of speech: 2 takes twice as long as 1. */
  readonly lengthScale?: number;
}

/** Field of the settings, and its smallest and largest usable value. */
const INFERENCE = {
  noiseScale: ['noise_scale', 0, 2],
  noiseScaleW: ['noise_w', 0, 2],
  lengthScale: ['length_scale', 0.25, 4],
} as const satisfies Record<keyof VoiceInference, readonly [string, number, number]>;

/** Returns the usable values of `inference` in the settings of a voice. Pure. */
export function voiceInference(settings: unknown): VoiceInference {
  const json = asObject(asObject(settings)?.inference) ?? {};
  const values = Object.entries(INFERENCE).flatMap(([name, [field, min, max]]) => {
    const value = json[field];
    return typeof value === 'number' && value >= min && value <= max ? [[name, value]] : [];
  });
  return Object.fromEntries(values);
}

/** sherpa-onnx reads one character per line, and ends the process for anything else. */
function tokensOf(map: Json): string {
  const lines = Object.entries(map).flatMap(([phoneme, ids]) => {
    const id: unknown = Array.isArray(ids) ? ids[0] : ids;
    const isUsable = [...phoneme].length === 1 && phoneme !== '\n' && phoneme !== '\r';
    return isUsable && Number.isInteger(id) && Number(id) >= 0 ? [`${phoneme} ${id}\n`] : [];
  });
  return lines.join('');
}

/** Marks that the engine puts around and between the phonemes. */
const MARKS = ['_', '^', '$'];

/**
 * Returns what the settings of a Piper voice say, or why they cannot be used. Their mark is the field
 * `phoneme_id_map`. Pure.
 */
export function piperVoiceOf(settings: unknown): PiperVoice | { readonly reason: string } {
  const json = asObject(settings);
  const map = asObject(json?.phoneme_id_map);
  if (json === null || map === null) return { reason: 'no phoneme_id_map, so it is not a Piper voice' };
  const kind = json.phoneme_type;
  if (kind !== undefined && kind !== 'espeak')
    return { reason: `phoneme_type ${JSON.stringify(kind).slice(0, 40)} cannot be served; espeak can` };
  const rate = asCount(asObject(json.audio)?.sample_rate);
  if (rate === null) return { reason: 'no audio.sample_rate' };
  const voice = asText(asObject(json.espeak)?.voice);
  if (voice === null) return { reason: 'no espeak.voice' };
  const missing = MARKS.filter((mark) => !(mark in map));
  if (missing.length > 0) return { reason: `phoneme_id_map lacks ${missing.join(' ')}` };
  return {
    metadata: {
      model_type: 'vits',
      comment: 'piper',
      language: asText(asObject(json.language)?.name_english) ?? voice,
      voice,
      has_espeak: '1',
      n_speakers: String(asCount(json.num_speakers) ?? 1),
      sample_rate: String(rate),
    },
    tokens: tokensOf(map),
  };
}
