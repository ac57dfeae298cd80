import type { AudioFormat, SessionUpdate, TurnDetection } from '../../contract/realtime.ts';
import type { VadSettings } from './vad.ts';

export type Modality = 'text' | 'audio';

/** The settings of a session; callers change them by `session.update`. */
export interface SessionConfig {
  readonly type: 'realtime' | 'transcription';
  /** Model of the chat; any name of /v1. */
  readonly model: string;
  readonly modality: Modality;
  readonly instructions: string;
  readonly input: {
    readonly format: AudioFormat;
    readonly transcription: { model?: string; language?: string; prompt?: string } | null;
    readonly turnDetection: TurnDetection | null;
  };
  readonly output: {
    readonly format: AudioFormat;
    /** Null uses the default of the slot. */
    readonly voice: string | null;
    readonly speed: number;
  };
  readonly tools: NonNullable<SessionUpdate['tools']>;
  readonly toolChoice: NonNullable<SessionUpdate['tool_choice']>;
  readonly maxOutputTokens: number | 'inf';
}

const PCM: AudioFormat = { type: 'audio/pcm', rate: 24_000 };
/** Default slot of each stage. */
export const DEFAULT_MODELS = { chat: 'agent', stt: 'stt', tts: 'tts' } as const;

/** Names of OpenAI's live voice models, which serve no chats. */
const VOICE_MODEL = /^gpt-(4o-|audio-)?(mini-)?realtime(-|$)/;

/** Returns the name under which the chat is served: OpenAI's voice models are the default (docs/spec/contract.md#realtime-model). */
export const chatModel = (name: string): string =>
  VOICE_MODEL.test(name.trim().toLowerCase()) ? DEFAULT_MODELS.chat : name;

/** Returns the initial settings. A transcription session emits transcripts from the start. */
export function newConfig(start: {
  type: SessionConfig['type'];
  model: string | null;
  modality: Modality;
}): SessionConfig {
  return {
    type: start.type,
    model: start.model ?? DEFAULT_MODELS.chat,
    modality: start.modality,
    instructions: '',
    input: {
      format: PCM,
      transcription:
        start.type === 'transcription' ? { ...(start.model !== null && { model: start.model }) } : null,
      turnDetection: { type: 'server_vad' },
    },
    output: { format: PCM, voice: null, speed: 1 },
    tools: [],
    toolChoice: 'auto',
    maxOutputTokens: 'inf',
  };
}

/**
 * An absent field stays unchanged, null turns it off (docs/spec/contract.md#realtime). A transcription has no
 * output, so that part is skipped.
 */
export function applyUpdate(config: SessionConfig, update: SessionUpdate): SessionConfig {
  const input = update.audio?.input;
  const output = update.audio?.output;
  const valueOr = <T>(value: T | undefined, before: T): T => (value === undefined ? before : value);
  return {
    ...config,
    model: valueOr(update.model, config.model),
    modality: valueOr(update.output_modalities?.[0], config.modality),
    instructions: valueOr(update.instructions, config.instructions),
    input: {
      format: valueOr(input?.format, config.input.format),
      transcription: valueOr(input?.transcription, config.input.transcription),
      turnDetection: valueOr(input?.turn_detection, config.input.turnDetection),
    },
    output: {
      format: valueOr(output?.format, config.output.format),
      voice: valueOr(output?.voice, config.output.voice),
      speed: valueOr(output?.speed, config.output.speed),
    },
    tools: valueOr(update.tools, config.tools),
    toolChoice: valueOr(update.tool_choice, config.toolChoice),
    maxOutputTokens: valueOr(update.max_output_tokens, config.maxOutputTokens),
  };
}

export interface TurnSettings extends VadSettings {
  readonly prefixMs: number;
  readonly idleMs: number | null;
  readonly createResponse: boolean;
  readonly interruptResponse: boolean;
}

/** Silence that ends a turn, by eagerness. */
const EAGERNESS_MS = { low: 1_200, medium: 700, auto: 700, high: 400 } as const;

/**
 * Returns the settings of turn detection; null when the caller controls turns. `semantic_vad` uses the same
 * VAD with other times: nothing here judges whether a sentence is complete.
 */
export function turnSettings({ input, type }: SessionConfig): TurnSettings | null {
  const turns = input.turnDetection;
  if (turns === null) return null;
  const speaks = type === 'realtime';
  const common = {
    createResponse: speaks && (turns.create_response ?? true),
    interruptResponse: turns.interrupt_response ?? true,
  };
  if (turns.type === 'semantic_vad') {
    const silenceMs = EAGERNESS_MS[turns.eagerness ?? 'auto'];
    return { ...common, threshold: 0.5, silenceMs, prefixMs: 300, idleMs: null };
  }
  return {
    ...common,
    threshold: turns.threshold ?? 0.5,
    silenceMs: turns.silence_duration_ms ?? 500,
    prefixMs: turns.prefix_padding_ms ?? 300,
    idleMs: turns.idle_timeout_ms ?? null,
  };
}

function turnsResource(config: SessionConfig): object | null {
  const turns = config.input.turnDetection;
  const used = turnSettings(config);
  if (turns === null || used === null) return null;
  const common = { create_response: used.createResponse, interrupt_response: used.interruptResponse };
  if (turns.type === 'semantic_vad')
    return { type: turns.type, eagerness: turns.eagerness ?? 'auto', ...common };
  return {
    type: turns.type,
    threshold: used.threshold,
    prefix_padding_ms: used.prefixMs,
    silence_duration_ms: used.silenceMs,
    idle_timeout_ms: used.idleMs,
    ...common,
  };
}

/** Returns the session as its caller sees it. */
export function sessionResource(id: string, config: SessionConfig): object {
  const input = {
    format: config.input.format,
    transcription: config.input.transcription,
    noise_reduction: null,
    turn_detection: turnsResource(config),
  };
  const head = {
    type: config.type,
    object: `realtime.${config.type === 'realtime' ? '' : 'transcription_'}session`,
    id,
  };
  if (config.type === 'transcription') return { ...head, audio: { input } };
  const { voice, ...output } = config.output;
  return {
    ...head,
    model: config.model,
    output_modalities: [config.modality],
    instructions: config.instructions,
    audio: { input, output: voice === null ? output : { ...output, voice } },
    tools: config.tools,
    tool_choice: config.toolChoice,
    max_output_tokens: config.maxOutputTokens,
    truncation: 'disabled',
  };
}
