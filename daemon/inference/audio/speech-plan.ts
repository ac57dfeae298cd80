import { GatewayError } from '../../contract/errors.ts';
import { stringAt } from '../../lib/json/byte-scanner.ts';
import { type BodyIndex, type Field, fieldOf, invalid, type WantedField } from '../rewrite/body-index.ts';
import { type Edit, insertField, replace } from '../rewrite/edits.ts';
import { isSoundFormat, SOUND_FORMATS, type SoundFormat } from './formats.ts';

/** The voice settings of a slot file. */
export interface VoiceDefaults {
  readonly voice?: string;
  readonly speed?: number;
  readonly response_format?: string;
}

/** The part of a speech request that the gateway handles. */
export interface SpeechRequest {
  /** The requested format; null when omitted. */
  readonly format: string | null;
  /** The response is sent as events instead of bytes. */
  readonly events: boolean;
}

/** The target of the speech request. */
export interface SpeechTarget {
  /** Defaults of the serving slot; null when unknown. */
  readonly defaults: VoiceDefaults | null;
  /** Formats that our engine produces; null for an engine that produces all formats itself. */
  readonly nativeFormats: readonly string[] | null;
  /** Formats that can be encoded from them. */
  readonly encodable: ReadonlySet<SoundFormat>;
}

export interface SpeechPlan {
  readonly edits: readonly Edit[];
  /** The format for the caller; null relays the engine's output unchanged. */
  readonly format: SoundFormat | null;
  /** The gateway encodes it from raw samples. */
  readonly encoded: boolean;
  /** The gateway converts it to OpenAI's events. */
  readonly events: boolean;
}

const isPresent = (field: Field | undefined): field is Field => field !== undefined && field.kind !== 'null';

function textOf(index: BodyIndex, name: WantedField): string | null {
  const field = fieldOf(index, name);
  if (!isPresent(field)) return null;
  if (field.kind !== 'string') throw invalid(name, 'must be a string');
  return stringAt(index.bytes, field.value);
}

/** Bytes of an empty JSON string. */
const EMPTY = 2;

/** Checks what every engine requires, before one is loaded. */
function checkInput(index: BodyIndex): void {
  const field = fieldOf(index, 'input');
  if (!isPresent(field)) throw invalid('input', 'is required');
  if (field.kind !== 'string') throw invalid('input', 'must be a string');
  if (field.value.end - field.value.start === EMPTY) throw invalid('input', 'must not be empty');
}

/** Parses the fields that the gateway handles. Throws 422 `request.invalid`. */
export function parseSpeechRequest(index: BodyIndex): SpeechRequest {
  checkInput(index);
  const events = textOf(index, 'stream_format');
  if (events !== null && events !== 'sse' && events !== 'audio')
    throw invalid('stream_format', 'must be audio or sse');
  return { format: textOf(index, 'response_format'), events: events === 'sse' };
}

/** Replaces or inserts a field. */
function setField(index: BodyIndex, name: WantedField, value: unknown): Edit {
  const field = fieldOf(index, name);
  return field === undefined ? insertField(name, value) : replace(field.value, JSON.stringify(value));
}

const isMissing = (index: BodyIndex, name: WantedField): boolean => !isPresent(fieldOf(index, name));

/**
 * Fills an omitted voice, speed or response_format from the slot's defaults
 * (docs/spec/specification.md#speech-defaults).
 */
function fillDefaults(
  index: BodyIndex,
  defaults: VoiceDefaults | null,
  names: readonly WantedField[],
): Edit[] {
  return names.flatMap((name) => {
    const value = defaults?.[name as keyof VoiceDefaults];
    return value !== undefined && isMissing(index, name) ? [setField(index, name, value)] : [];
  });
}

/**
 * Plans how one request is sent to its engine and how its response is produced
 * (docs/spec/contract.md#speech-formats). An engine that produces all formats gets the request with the
 * slot's defaults filled in. For the gateway's own engines, the gateway produces the format. Throws 422 for a
 * requested format that cannot be produced. Pure.
 */
export function speechPlan(index: BodyIndex, request: SpeechRequest, target: SpeechTarget): SpeechPlan {
  const { defaults, nativeFormats } = target;
  if (nativeFormats === null) {
    const edits = fillDefaults(index, defaults, ['voice', 'speed', 'response_format']);
    return { edits, format: null, encoded: false, events: false };
  }
  const format = chosenFormat(request.format, target);
  const native = nativeFormats.includes(format);
  const edits = [
    ...fillDefaults(index, defaults, ['voice', 'speed']),
    setField(index, 'response_format', native ? format : 'pcm'),
  ];
  return { edits, format, encoded: !native, events: request.events };
}

function chosenFormat(
  requested: string | null,
  { defaults, nativeFormats, encodable }: SpeechTarget,
): SoundFormat {
  const possible = (format: string): format is SoundFormat =>
    isSoundFormat(format) && (nativeFormats?.includes(format) || encodable.has(format));
  if (requested !== null) {
    if (possible(requested)) return requested;
    throw formatError(requested, SOUND_FORMATS.filter(possible));
  }
  const preferred = [defaults?.response_format ?? 'mp3', 'mp3', 'wav'];
  return preferred.find(possible) ?? 'wav';
}

function formatError(requested: string, possible: readonly string[]): GatewayError {
  const can = possible.join(', ');
  if (!isSoundFormat(requested))
    return invalid('response_format', `must be one of ${SOUND_FORMATS.join(', ')}`);
  return new GatewayError('request.invalid', {
    message: `The format ${requested} needs ffmpeg with its ${requested} encoder on the gateway machine. Available: ${can}.`,
    param: 'response_format',
    details: {
      fields: [{ path: 'response_format', reason: `is not available; use ${can}` }],
      missing: 'ffmpeg',
    },
  });
}
