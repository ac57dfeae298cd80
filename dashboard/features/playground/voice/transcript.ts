import type { ServerEvent } from '../../../../daemon/contract/realtime.ts';

/** Stage times of one answer in milliseconds; null when not reported. */
export interface StageTimes {
  readonly transcription: number | null;
  readonly firstToken: number | null;
  readonly text: number | null;
  readonly firstAudio: number | null;
  readonly audio: number | null;
  readonly total: number | null;
}

/** A turn of one side. */
export interface VoiceTurn {
  readonly id: string;
  readonly who: 'you' | 'model';
  readonly text: string;
  /** `open`: still streaming; `unheard`: could not be transcribed. */
  readonly state: 'open' | 'done' | 'cut' | 'failed' | 'unheard';
  readonly times: StageTimes | null;
}

export interface Fault {
  readonly code: string;
  readonly message: string;
}

/** The state of a conversation. */
export interface Transcript {
  readonly turns: readonly VoiceTurn[];
  /** Id of the running response. */
  readonly response: string | null;
  /** Whether the user is speaking. */
  readonly speaking: boolean;
  /** Modality of answers; null until the session has started. */
  readonly modality: 'text' | 'audio' | null;
  readonly fault: Fault | null;
}

export const EMPTY_TRANSCRIPT: Transcript = {
  turns: [],
  response: null,
  speaking: false,
  modality: null,
  fault: null,
};

/** Maximum number of turns in the transcript. */
const MAX_TURNS = 200;

interface Item {
  id?: string;
  type?: string;
  role?: string;
  status?: string;
  content?: { text?: string; transcript?: string }[];
}
interface Response {
  id?: string;
  status?: string;
  status_details?: { error?: { code?: string; message?: string } } | null;
  output?: Item[];
  metadata?: Record<string, string> | null;
}

const textOf = ({ content }: Item): string =>
  (content ?? []).map((part) => part.text ?? part.transcript ?? '').join('');

const put = (at: Transcript, row: VoiceTurn): Transcript => {
  const known = at.turns.some(({ id }) => id === row.id);
  const turns = known
    ? at.turns.map((old) => (old.id === row.id ? row : old))
    : [...at.turns, row].slice(-MAX_TURNS);
  return { ...at, turns };
};

const change = (at: Transcript, id: unknown, next: (row: VoiceTurn) => Partial<VoiceTurn>): Transcript => ({
  ...at,
  turns: at.turns.map((row) => (row.id === id ? { ...row, ...next(row) } : row)),
});

const row = (
  id: string,
  who: VoiceTurn['who'],
  text = '',
  state: VoiceTurn['state'] = 'open',
): VoiceTurn => ({
  id,
  who,
  text,
  state,
  times: null,
});

const millis = (metadata: Record<string, string> | null | undefined, name: string): number | null => {
  const value = Number(metadata?.[name]);
  return metadata?.[name] === undefined || !Number.isFinite(value) ? null : value;
};

/**
 * Returns the stages of an answer from the metadata of `response.done`
 * (docs/spec/contract.md#realtime-stages).
 */
export function timesOf(metadata: Record<string, string> | null | undefined): StageTimes {
  return {
    transcription: millis(metadata, 'svc_stt_ms'),
    firstToken: millis(metadata, 'svc_chat_first_ms'),
    text: millis(metadata, 'svc_chat_ms'),
    firstAudio: millis(metadata, 'svc_tts_first_ms'),
    audio: millis(metadata, 'svc_tts_ms'),
    total: millis(metadata, 'svc_total_ms'),
  };
}

const ENDS = { completed: 'done', cancelled: 'cut', failed: 'failed', incomplete: 'cut' } as const;

function ended(at: Transcript, response: Response): Transcript {
  const state = ENDS[response.status as keyof typeof ENDS] ?? 'done';
  const times = timesOf(response.metadata);
  const last = response.output?.findLast(({ type }) => type === 'message')?.id;
  const closed = { ...at, response: at.response === response.id ? null : at.response };
  const marked = last === undefined ? closed : change(closed, last, () => ({ state, times }));
  const error = response.status === 'failed' ? response.status_details?.error : undefined;
  if (error === undefined) return marked;
  return {
    ...marked,
    fault: { code: error.code ?? 'failed', message: error.message ?? 'The answer failed.' },
  };
}

function added(at: Transcript, item: Item): Transcript {
  if (item.type !== 'message' || item.id === undefined || item.role === 'system') return at;
  const who = item.role === 'assistant' ? 'model' : 'you';
  const text = textOf(item);
  const known = at.turns.find(({ id }) => id === item.id);
  return known ? at : put(at, row(item.id, who, text, who === 'you' && text !== '' ? 'done' : 'open'));
}

type Reducer = (at: Transcript, event: Record<string, unknown>) => Transcript;
const append: Reducer = (at, { item_id, delta }) =>
  change(at, item_id, ({ text }) => ({ text: text + String(delta ?? '') }));

/** Reducers by event type; other events are ignored. */
const REDUCERS: Readonly<Record<string, Reducer>> = {
  'session.created': (at, { session }) => withModality(at, session),
  'session.updated': (at, { session }) => withModality(at, session),
  'input_audio_buffer.speech_started': (at) => ({ ...at, speaking: true }),
  'input_audio_buffer.speech_stopped': (at) => ({ ...at, speaking: false }),
  'conversation.item.added': (at, { item }) => added(at, item as Item),
  'conversation.item.input_audio_transcription.delta': append,
  'conversation.item.input_audio_transcription.completed': (at, { item_id, transcript }) =>
    change(at, item_id, () => ({ text: String(transcript ?? ''), state: 'done' })),
  'conversation.item.input_audio_transcription.failed': (at, { item_id }) =>
    change(at, item_id, () => ({ state: 'unheard' })),
  'response.created': (at, { response }) => ({
    ...at,
    response: (response as Response).id ?? null,
    fault: null,
  }),
  'response.output_text.delta': append,
  'response.output_audio_transcript.delta': append,
  'conversation.item.truncated': (at, { item_id }) => change(at, item_id, () => ({ state: 'cut' })),
  'conversation.item.retrieved': (at, { item }) =>
    change(at, (item as Item).id, () => ({ text: textOf(item as Item) })),
  'response.done': (at, { response }) => ended(at, response as Response),
  error: (at, { error }) => {
    const { code, message } = error as Fault;
    return { ...at, fault: { code, message } };
  },
};

function withModality(at: Transcript, session: unknown): Transcript {
  const { output_modalities: modes } = session as { output_modalities?: string[] };
  return { ...at, modality: modes?.includes('audio') ? 'audio' : 'text' };
}

/** Applies one event to the transcript. Pure. */
export function withEvent(at: Transcript, event: ServerEvent): Transcript {
  const take = Object.hasOwn(REDUCERS, event.type) ? REDUCERS[event.type] : undefined;
  return take?.(at, event) ?? at;
}
