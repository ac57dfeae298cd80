import { asObject, type Json } from '../dialects/json.ts';

/** Where the settings of the beta API are in the GA API, below `session` or `response`. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  modalities: ['output_modalities'],
  input_audio_format: ['audio', 'input', 'format'],
  input_audio_transcription: ['audio', 'input', 'transcription'],
  turn_detection: ['audio', 'input', 'turn_detection'],
  output_audio_format: ['audio', 'output', 'format'],
  voice: ['audio', 'output', 'voice'],
  speed: ['audio', 'output', 'speed'],
  max_response_output_tokens: ['max_output_tokens'],
};

const FORMATS: Readonly<Record<string, Json>> = {
  pcm16: { type: 'audio/pcm', rate: 24_000 },
  g711_ulaw: { type: 'audio/pcmu' },
  g711_alaw: { type: 'audio/pcma' },
};

/** Returns a value in its GA form. A value without one stays, and is refused at its GA place. */
function currentValue(name: string, value: unknown): unknown {
  if (name.endsWith('_format') && typeof value === 'string' && Object.hasOwn(FORMATS, value))
    return FORMATS[value];
  // Speech always has its text, so the beta API lists both.
  if (name === 'modalities' && Array.isArray(value)) return value.includes('audio') ? ['audio'] : value;
  return value;
}

/** Returns the object with a value at this place, unless there is one. */
function withValue(object: Json, [step = '', ...rest]: readonly string[], value: unknown): Json {
  if (rest.length === 0) return step in object ? object : { ...object, [step]: value };
  const inner = step in object ? asObject(object[step]) : {};
  return inner === undefined ? object : { ...object, [step]: withValue(inner, rest, value) };
}

/**
 * Returns the settings of a session or response under the names of the GA API. Clients that were written for
 * the beta API send its flat names, such as `input_audio_format`; a setting that is ignored without a word
 * leads to noise. A GA name wins over the beta name (docs/spec/contract.md#realtime-beta-names). Pure.
 */
export function withCurrentNames(settings: unknown): unknown {
  const object = asObject(settings);
  const old = Object.keys(object ?? {}).filter((name) => Object.hasOwn(PLACES, name));
  if (object === undefined || old.length === 0) return settings;
  return old.reduce(
    (current, name) => withValue(current, PLACES[name] ?? [], currentValue(name, object[name])),
    object,
  );
}
