import type { ClientEvent, ResponseParams } from '../../contract/realtime.ts';
import { clientError } from './client-event.ts';
import { type Item, itemFrom } from './items.ts';
import { needsResponse } from './needs-response.ts';
import { advance, closeEntries } from './response-entries.ts';
import { type ActiveResponse, type ResponseEnd, responseResource } from './response-state.ts';
import { DEFAULT_MODELS, type SessionConfig, turnSettings } from './session-config.ts';
import { forEachResponse, MAX_SIDE_RESPONSES, runAsCurrent, sideResponse } from './side-responses.ts';
import type { Input, Stage, StageError, Step } from './step.ts';

/** Returns the entry of the active response for this item. */
export const entryAt = (step: Step, itemId: string) =>
  step.state.response?.entries.find((entry) => entry.itemId === itemId);

/**
 * Emits an error event for a missing stage (docs/spec/contract.md#realtime-missing-stage). Returns false when
 * the stage exists.
 */
export function isStageMissing(step: Step, stage: Stage, model: string, event_id: string | null): boolean {
  if (step.environment.can(stage, model)) return false;
  const message = `No slot serves ${STAGE_NAMES[stage]} as "${model}".`;
  // Another name helps only where the caller chose this one.
  const type = model === DEFAULT_MODELS[stage] ? 'server_error' : 'invalid_request_error';
  step.error({ type, code: 'realtime.unavailable', message, param: null, event_id });
  return true;
}

const STAGE_NAMES: Readonly<Record<Stage, string>> = {
  chat: 'chat',
  stt: 'speech to text',
  tts: 'text to speech',
};

/**
 * Handles `response.create`. Refuses it while a response is active, while a stage is missing, and in
 * transcription sessions.
 */
export function createResponse(step: Step, event: ClientEvent<'response.create'>) {
  const { event_id = null } = event;
  const params = event.response ?? {};
  const refuse = (code: string, message: string, param: string | null) =>
    step.error(clientError(code, message, { param, event_id }));
  if (step.state.config.type === 'transcription')
    return refuse('invalid_value', 'A transcription session makes no responses.', 'type');
  const isOutOfBand = params.conversation === 'none';
  if (!isOutOfBand && step.state.response !== null)
    return refuse(
      'conversation_already_has_active_response',
      'Conversation already has an active response.',
      null,
    );
  if (isOutOfBand && step.state.sideResponses.length >= MAX_SIDE_RESPONSES)
    return refuse(
      'too_many_active_responses',
      `At most ${MAX_SIDE_RESPONSES} responses outside the conversation run at once.`,
      null,
    );
  const input = inputOf(step, params);
  if (typeof input === 'string') return refuse('invalid_value', input, 'response.input');
  begin(step, { params, input, auto: false, event_id });
}

/** Starts a response at the end of a turn, or queues the turn while another response is active. */
export function answerTurn(step: Step, item: string): void {
  if (step.state.response !== null) step.set({ pendingTurns: [...step.state.pendingTurns, item] });
  else begin(step, { ...TURN_DEFAULTS, auto: true });
}

/** Starts a response without user input. */
export const speakFirst = (step: Step): void => begin(step, { ...TURN_DEFAULTS, auto: false });

const TURN_DEFAULTS = { params: {}, input: null, event_id: null } as const;

function inputOf(step: Step, { input }: ResponseParams): readonly Item[] | null | string {
  if (input === undefined) return null;
  const items: Item[] = [];
  for (const each of input) {
    if (each.type === 'item_reference') {
      const item = step.state.items.find(({ id }) => id === each.id);
      if (item === undefined) return 'An item reference leads nowhere.';
      items.push(item);
      continue;
    }
    const { item, sound } = itemFrom(each, each.id ?? step.newId('item'), step.newId('call'));
    if (sound !== null) return 'Audio must be an item of the conversation, or have a transcript.';
    items.push(item);
  }
  return items;
}

interface ResponseStart {
  readonly params: ResponseParams;
  readonly input: readonly Item[] | null;
  readonly auto: boolean;
  readonly event_id: string | null;
}

function begin(step: Step, { params, input, auto, event_id }: ResponseStart): void {
  const config = withParams(step.state.config, params);
  if (isStageMissing(step, 'chat', step.environment.chatModel(config.model), event_id)) return;
  if (config.modality === 'audio' && isStageMissing(step, 'tts', DEFAULT_MODELS.tts, event_id)) return;
  const { voice, speed, format } = config.output;
  const response: ActiveResponse = {
    id: step.newId('resp'),
    modality: config.modality,
    config,
    voice: config.modality === 'audio' ? { voice, speed, format } : null,
    metadata: params.metadata ?? null,
    input,
    isInConversation: params.conversation !== 'none',
    auto,
    waitsFor: input === null ? step.state.transcribing : [],
    transcriptionMs: null,
    entries: [],
    head: 0,
    output: [],
    answered: null,
    spoken: null,
    startedAt: step.environment.now,
  };
  if (response.isInConversation) {
    step.set({ response });
    step.addEffect({ kind: 'idle', ms: null });
    announce(step, response);
  } else runAsCurrent(step, response, () => announce(step, response));
}

function announce(step: Step, response: ActiveResponse): void {
  step.send('response.created', { response: responseResource(response, null, step.environment.now) });
  startWhenReady(step);
}

/** Returns the settings of the session with the overrides of this response. */
function withParams(config: SessionConfig, params: ResponseParams): SessionConfig {
  const output = params.audio?.output;
  return {
    ...config,
    modality: params.output_modalities?.[0] ?? config.modality,
    instructions: params.instructions ?? config.instructions,
    output: {
      ...config.output,
      format: output?.format ?? config.output.format,
      voice: output?.voice ?? config.output.voice,
    },
    tools: params.tools ?? config.tools,
    toolChoice: params.tool_choice ?? config.toolChoice,
    maxOutputTokens: params.max_output_tokens ?? config.maxOutputTokens,
  };
}

/** Starts the response when everything before it is transcribed. Turns without content need no response. */
function startWhenReady(step: Step) {
  const { response } = step.state;
  if (response === null || response.waitsFor === null || response.waitsFor.length > 0) return;
  step.set({ response: { ...response, waitsFor: null } });
  const before = step.state;
  // Turns that are transcribed by now are part of the input below, or have no content.
  if (ofConversation(response))
    step.set({ pendingTurns: before.pendingTurns.filter((id) => before.transcribing.includes(id)) });
  if (response.auto && !needsResponse(before)) return finishResponse(step, COMPLETED);
  const { model: named, instructions, tools, toolChoice, maxOutputTokens } = response.config;
  const items = response.input ?? before.items;
  const chat = {
    model: step.environment.chatModel(named),
    instructions,
    items,
    tools,
    toolChoice,
    maxOutputTokens,
  };
  step.addEffect({ kind: 'answer', response: response.id, chat, voice: response.voice });
}

/** Returns whether a response belongs to the conversation. */
const ofConversation = ({ input, isInConversation }: ActiveResponse): boolean =>
  input === null && isInConversation;

const COMPLETED: ResponseEnd = { status: 'completed', details: null };

/** Handles an item that the response waits for: transcribed or deleted. */
export function onItemTranscribed(step: Step, item: string, ms: number | null): void {
  forEachResponse(step, () => {
    const { response } = step.state;
    if (!response?.waitsFor?.includes(item)) return;
    const waitsFor = response.waitsFor.filter((each) => each !== item);
    step.set({ response: { ...response, waitsFor, transcriptionMs: ms ?? response.transcriptionMs } });
    startWhenReady(step);
  });
}

export function onItemFailed(step: Step, item: string, error: StageError): void {
  forEachResponse(step, () => {
    if (step.state.response?.waitsFor?.includes(item)) failResponse(step, error);
  });
}

export function failResponse(step: Step, { type = 'server_error', code, message }: StageError): void {
  finishResponse(step, { status: 'failed', details: { type: 'failed', error: { type, code, message } } });
}

export function cancelResponse(step: Step, { response_id, event_id }: ClientEvent<'response.cancel'>) {
  const { response } = step.state;
  const side = sideResponse(step, response_id);
  if (side !== undefined) return runAsCurrent(step, side, () => finishResponse(step, CANCELLED));
  if (response === null || (response_id != null && response_id !== response.id)) {
    const message = 'Cancellation failed: no active response found.';
    return step.error(clientError('response_cancel_not_active', message, { event_id: event_id ?? null }));
  }
  if (ofConversation(response)) step.set({ dismissedItemId: step.state.items.at(-1)?.id ?? null });
  finishResponse(step, CANCELLED);
}

const CANCELLED: ResponseEnd = {
  status: 'cancelled',
  details: { type: 'cancelled', reason: 'client_cancelled' },
};

/** The user speaks: cancels the active response. Responses outside the conversation continue. */
export function interruptResponse(step: Step): void {
  if (step.state.response === null) return;
  finishResponse(step, { status: 'cancelled', details: { type: 'cancelled', reason: 'turn_detected' } });
}

/** Ends the active response: closes the open entry and stops its work. */
export function finishResponse(step: Step, end: ResponseEnd) {
  const { status } = end;
  closeEntries(step, status === 'completed' ? 'completed' : 'incomplete', status === 'cancelled');
  const { response, config } = step.state;
  if (response === null) return;
  step.addEffect({ kind: 'stop', response: response.id });
  step.set({ response: null });
  step.send('response.done', { response: responseResource(response, end, step.environment.now) });
  if (!response.isInConversation) return;
  if (hasPendingTurn(step)) return begin(step, { ...TURN_DEFAULTS, auto: true });
  step.set({ pendingTurns: [] });
  const idleMs = turnSettings(config)?.idleMs ?? null;
  if (idleMs === null || config.type === 'transcription') return;
  const spokenMs = response.entries
    .flatMap(({ sentences }) => sentences)
    .reduce((sum, { ms }) => sum + ms, 0);
  step.addEffect({ kind: 'idle', ms: idleMs + Math.ceil(spokenMs) });
}

/** Returns whether turns that ended meanwhile need a response, or may after transcription. */
function hasPendingTurn({ state }: Step): boolean {
  if (state.pendingTurns.length === 0) return false;
  return state.pendingTurns.some((id) => state.transcribing.includes(id)) || needsResponse(state);
}

/** Handles the end of the chat or of the voice. */
export function partEnded(step: Step, input: Extract<Input, { kind: 'answered' | 'spoken' }>) {
  const { response } = step.state;
  if (response === null) return;
  const { kind: _, response: __, ...end } = input;
  step.set({
    response:
      input.kind === 'spoken'
        ? { ...response, spoken: input.times }
        : { ...response, answered: end as never },
  });
  advance(step);
  const now = step.state.response;
  if (now === null || now.answered === null || now.head < now.entries.length) return;
  finishResponse(step, FINISHES[now.answered.finish] ?? COMPLETED);
}

const incomplete = (reason: string): ResponseEnd => ({
  status: 'incomplete',
  details: { type: 'incomplete', reason },
});

/** The meaning of `finish_reason`; any other value is a complete response. */
const FINISHES: Readonly<Record<string, ResponseEnd>> = {
  length: incomplete('max_output_tokens'),
  content_filter: incomplete('content_filter'),
};
