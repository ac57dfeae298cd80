import { GatewayError } from '../../contract/errors.ts';
import { stringAt } from '../../lib/json/byte-scanner.ts';
import { type BodyIndex, type Field, fieldOf, invalid, type WantedField } from '../rewrite/body-index.ts';
import { type Edit, insertField, replace } from '../rewrite/edits.ts';
import { isSoundFormat, SOUND_FORMATS, type SoundFormat } from './formats.ts';

/** The voice of a slot as its file says it. */
export interface VoiceDefaults {
  readonly voice?: string;
  readonly speed?: number;
  readonly response_format?: string;
}

/** What a speech request asks of the gateway itself. */
export interface SpeechRequest {
  /** The format that the caller named; null when it named none. */
  readonly format: string | null;
  /** The answer shall be events instead of bytes. */
  readonly events: boolean;
}

/** Where the speech comes from. */
export interface SpeechTarget {
  /** Of the slot that serves; null when nothing is known of it. */
  readonly defaults: VoiceDefaults | null;
  /** What an engine of ours makes itself; null for one that makes all by itself. */
  readonly nativeFormats: readonly string[] | null;
  /** What can be made from that. */
  readonly encodable: ReadonlySet<SoundFormat>;
}

export interface SpeechPlan {
  readonly edits: readonly Edit[];
  /** What the caller gets; null: what the engine sends goes on as it is. */
  readonly format: SoundFormat | null;
  /** It is encoded here, from bare samples. */
  readonly encoded: boolean;
  /** It becomes OpenAI's events here. */
  readonly events: boolean;
}

const isGiven = (field: Field | undefined): field is Field => field !== undefined && field.kind !== 'null';

function textOf(index: BodyIndex, name: WantedField): string | null {
  const field = fieldOf(index, name);
  if (!isGiven(field)) return null;
  if (field.kind !== 'string') throw invalid(name, 'must be a string');
  return stringAt(index.bytes, field.value);
}

/** Bytes of a string that holds nothing. */
const EMPTY = 2;

/** What every engine needs, judged before one is loaded for it. */
function checkInput(index: BodyIndex): void {
  const field = fieldOf(index, 'input');
  if (!isGiven(field)) throw invalid('input', 'is required');
  if (field.kind !== 'string') throw invalid('input', 'must be a string');
  if (field.value.end - field.value.start === EMPTY) throw invalid('input', 'must not be empty');
}

/** Reads what concerns the gateway. Throws 422 `request.invalid`. */
export function parseSpeechRequest(index: BodyIndex): SpeechRequest {
  checkInput(index);
  const events = textOf(index, 'stream_format');
  if (events !== null && events !== 'sse' && events !== 'audio')
    throw invalid('stream_format', 'must be audio or sse');
  return { format: textOf(index, 'response_format'), events: events === 'sse' };
}

/** Puts a value into a field, whether it is there or not. */
function setField(index: BodyIndex, name: WantedField, value: unknown): Edit {
  const field = fieldOf(index, name);
  return field === undefined ? insertField(name, value) : replace(field.value, JSON.stringify(value));
}

const isMissing = (index: BodyIndex, name: WantedField): boolean => !isGiven(fieldOf(index, name));

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
 * Plans how one request is sent to its engine and how its answer is made
 * (docs/spec/contract.md#speech-formats). An engine that makes all formats gets the request with the slot's
 * defaults filled in. For the gateway's own engines the gateway makes the format. Throws 422 for a requested
 * format that cannot be made. Pure.
 */
export function speechPlan(index: BodyIndex, ask: SpeechRequest, target: SpeechTarget): SpeechPlan {
  const { defaults, nativeFormats } = target;
  if (nativeFormats === null) {
    const edits = fillDefaults(index, defaults, ['voice', 'speed', 'response_format']);
    return { edits, format: null, encoded: false, events: false };
  }
  const format = chosenFormat(ask.format, target);
  const native = nativeFormats.includes(format);
  const edits = [
    ...fillDefaults(index, defaults, ['voice', 'speed']),
    setField(index, 'response_format', native ? format : 'pcm'),
  ];
  return { edits, format, encoded: !native, events: ask.events };
}

function chosenFormat(
  asked: string | null,
  { defaults, nativeFormats, encodable }: SpeechTarget,
): SoundFormat {
  const possible = (format: string): format is SoundFormat =>
    isSoundFormat(format) && (nativeFormats?.includes(format) || encodable.has(format));
  if (asked !== null) {
    if (possible(asked)) return asked;
    throw formatError(asked, SOUND_FORMATS.filter(possible));
  }
  const preferred = [defaults?.response_format ?? 'mp3', 'mp3', 'wav'];
  return preferred.find(possible) ?? 'wav';
}

function formatError(asked: string, possible: readonly string[]): GatewayError {
  const can = possible.join(', ');
  if (!isSoundFormat(asked)) return invalid('response_format', `must be one of ${SOUND_FORMATS.join(', ')}`);
  return new GatewayError('request.invalid', {
    message: `The format ${asked} needs ffmpeg with its ${asked} encoder on the gateway's machine; ${can} can be made.`,
    param: 'response_format',
    details: {
      fields: [{ path: 'response_format', reason: `cannot be made here; ${can} can` }],
      missing: 'ffmpeg',
    },
  });
}
