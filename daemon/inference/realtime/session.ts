import type { ClientEvent, ClientEventType } from '../../contract/realtime.ts';
import { clientError } from './client-event.ts';
import {
  createItem,
  deleteItem,
  onTranscribed,
  onTranscriptionFailed,
  retrieveItem,
  truncateItem,
} from './conversation.ts';
import { append, clear, commit, onIdle, resetSound, updateTurnDetection } from './listening.ts';
import { cancelResponse, createResponse, failResponse, isStageMissing, partEnded } from './response.ts';
import { addCall, addSound, addText, startSentence } from './response-entries.ts';
import {
  applyUpdate,
  DEFAULT_MODELS,
  newConfig,
  type SessionConfig,
  turnSettings,
} from './session-config.ts';
import { runAsCurrent, sideResponse } from './side-responses.ts';
import { emptySound, endMs } from './sound-buffer.ts';
import { type Effect, type Input, type SessionEnvironment, type SessionState, Step } from './step.ts';
import { SILENT } from './vad.ts';

/** Returns a new session; `id` makes its ids unique. */
export function newSession(id: string, start: Parameters<typeof newConfig>[0]): SessionState {
  const config = newConfig(start);
  return {
    id,
    count: 0,
    config,
    items: [],
    spokenSentences: {},
    transcribing: [],
    sound: emptySound(config.input.format),
    vad: SILENT,
    processedBytes: 0,
    speechItemId: null,
    response: null,
    sideResponses: [],
    pendingTurns: [],
    dismissedItemId: null,
  };
}

/**
 * Applies an input to a session. Returns the new state and its effects, in order. Pure: reads only `world`.
 * Inputs of an ended response have no effect.
 */
export function session(
  state: SessionState,
  input: Input,
  world: SessionEnvironment,
): [SessionState, readonly Effect[]] {
  const step = new Step(state, world);
  if (!('response' in input) || input.response === state.response?.id) run(step, input);
  else {
    const side = sideResponse(step, input.response);
    if (side !== undefined) runAsCurrent(step, side, () => run(step, input));
  }
  return [step.state, step.effects];
}

const INPUT_HANDLERS: {
  readonly [K in Input['kind']]: (step: Step, input: Extract<Input, { kind: K }>) => void;
} = {
  open: (step) => step.send('session.created', { session: step.resource() }),
  message: (step, { read }) => (read.ok ? message(step, read.event) : step.error(read.error)),
  transcribed: onTranscribed,
  transcription_failed: onTranscriptionFailed,
  text: addText,
  call: addCall,
  sentence: startSentence,
  sound: addSound,
  answered: partEnded,
  spoken: partEnded,
  failed: (step, { error }) => failResponse(step, error),
  idle: onIdle,
};

function run(step: Step, input: Input): void {
  (INPUT_HANDLERS[input.kind] as (step: Step, input: Input) => void)(step, input);
}

const EVENT_HANDLERS: { readonly [T in ClientEventType]: (step: Step, event: ClientEvent<T>) => void } = {
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
  (EVENT_HANDLERS[event.type] as (step: Step, event: ClientEvent) => void)(step, event);
}

function updateSession(step: Step, { session: update, event_id }: ClientEvent<'session.update'>) {
  const { config, sound } = step.state;
  const refuse = (message: string, param: string) =>
    step.error(clientError('invalid_value', message, { param, event_id: event_id ?? null }));
  if (update.type !== config.type) return refuse('The type of a session cannot be changed.', 'session.type');
  const unknown = update.model === undefined ? null : unknownChatModel(step, update.model);
  if (unknown !== null) return refuse(unknown, 'session.model');
  const next = applyUpdate(config, update);
  const otherFormat = next.input.format.type !== config.input.format.type;
  if (otherFormat && sound.bytes > 0)
    return refuse('Commit or clear the buffer before its format is changed.', 'session.audio.input.format');
  if (
    wantsVoice(next) &&
    !wantsVoice(config) &&
    isStageMissing(step, 'tts', DEFAULT_MODELS.tts, event_id ?? null)
  )
    return;
  step.set({ config: next });
  if (otherFormat) resetSound(step, endMs(sound));
  else updateTurnDetection(step, turnSettings(config));
  step.send('session.updated', { session: step.resource() });
}

/** Returns why nothing could serve a chat under this name; null when something could. */
const unknownChatModel = (step: Step, model: string): string | null =>
  step.environment.unknownModel(step.environment.chatModel(model));

const wantsVoice = ({ type, modality }: SessionConfig): boolean =>
  type === 'realtime' && modality === 'audio';
