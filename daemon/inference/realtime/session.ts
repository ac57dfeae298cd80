import type { ClientEvent, ClientEventType } from '../../contract/realtime.ts';
import { callersError } from './client-event.ts';
import { createItem, deleteItem, heard, retrieveItem, truncateItem, unheard } from './conversation.ts';
import { append, clear, commit, forget, retune, waitedLongEnough } from './listening.ts';
import { cancelResponse, createResponse, failResponse, missing, partEnded } from './response.ts';
import { addCall, addSound, addWords, startSaying } from './response-entries.ts';
import { newConfig, type SessionConfig, turnSettings, USUAL, updated } from './session-config.ts';
import { emptySound, endMs } from './sound-buffer.ts';
import { type Effect, type Input, type SessionState, Step, type World } from './step.ts';
import { SILENT } from './vad.ts';

/** A session before anything has happened. `id` makes its ids different from those of all others. */
export function newSession(id: string, start: Parameters<typeof newConfig>[0]): SessionState {
  const config = newConfig(start);
  return {
    id,
    count: 0,
    config,
    items: [],
    said: {},
    hearing: [],
    sound: emptySound(config.input.format),
    gate: SILENT,
    judged: 0,
    speech: null,
    response: null,
    owed: [],
    dismissed: null,
  };
}

/**
 * What a session becomes by an input, and what is to be done about it, in order. Pure: it only asks `world`. Inputs of a
 * response that is over change nothing.
 */
export function session(state: SessionState, input: Input, world: World): [SessionState, readonly Effect[]] {
  const step = new Step(state, world);
  if (!('response' in input) || input.response === state.response?.id) run(step, input);
  return [step.state, step.effects];
}

const RUN: { readonly [K in Input['kind']]: (step: Step, input: Extract<Input, { kind: K }>) => void } = {
  open: (step) => step.send('session.created', { session: step.resource() }),
  message: (step, { read }) => (read.ok ? message(step, read.event) : step.error(read.error)),
  heard,
  unheard,
  words: addWords,
  call: addCall,
  saying: startSaying,
  sound: addSound,
  answered: partEnded,
  spoken: partEnded,
  failed: (step, { error }) => failResponse(step, error),
  idle: waitedLongEnough,
};

function run(step: Step, input: Input): void {
  (RUN[input.kind] as (step: Step, input: Input) => void)(step, input);
}

const ON: { readonly [T in ClientEventType]: (step: Step, event: ClientEvent<T>) => void } = {
  'session.update': updateSession,
  'input_audio_buffer.append': append,
  'input_audio_buffer.commit': commit,
  'input_audio_buffer.clear': clear,
  'conversation.item.create': createItem,
  'conversation.item.retrieve': retrieveItem,
  'conversation.item.truncate': truncateItem,
  'conversation.item.delete': deleteItem,
  'response.create': createResponse,
  'response.cancel': cancelResponse,
};

function message(step: Step, event: ClientEvent): void {
  (ON[event.type] as (step: Step, event: ClientEvent) => void)(step, event);
}

function updateSession(step: Step, { session: update, event_id }: ClientEvent<'session.update'>) {
  const { config, sound } = step.state;
  const refuse = (message: string, param: string) =>
    step.error(callersError('invalid_value', message, { param, event_id: event_id ?? null }));
  if (update.type !== config.type) return refuse('The type of a session cannot be changed.', 'session.type');
  const next = updated(config, update);
  const otherFormat = next.input.format.type !== config.input.format.type;
  if (otherFormat && sound.bytes > 0)
    return refuse('Commit or clear the buffer before its format is changed.', 'session.audio.input.format');
  if (wantsVoice(next) && !wantsVoice(config) && missing(step, 'tts', USUAL.tts, event_id ?? null)) return;
  step.set({ config: next });
  if (otherFormat) forget(step, endMs(sound));
  else retune(step, turnSettings(config));
  step.send('session.updated', { session: step.resource() });
}

const wantsVoice = ({ type, modality }: SessionConfig): boolean =>
  type === 'realtime' && modality === 'audio';
