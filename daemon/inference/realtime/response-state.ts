import type { Item, SpokenSentence } from './items.ts';
import type { Modality, SessionConfig } from './session-config.ts';
import type { StageTimes, Tokens, VoiceRequest } from './stage-types.ts';

/** A message or call of a response, with the part that is not sent yet. */
export interface Entry {
  readonly kind: 'message' | 'call';
  readonly itemId: string;
  /** For calls: the engine's index, our id and the name. */
  readonly index: number;
  readonly callId: string;
  readonly name: string;
  /** The text, or the arguments. */
  readonly text: string;
  /** Number of characters of `text` that were sent. */
  readonly sent: number;
  readonly sound: readonly Buffer[];
  readonly sentences: readonly SpokenSentence[];
  readonly open: boolean;
}

export interface ChatEnd {
  readonly finish: string;
  readonly tokens: Tokens | null;
  readonly times: StageTimes;
}

/** The active response. Its entries are sent one after the other, in order of arrival. */
export interface ActiveResponse {
  readonly id: string;
  readonly modality: Modality;
  /** The settings of the session with the overrides of `response.create`. */
  readonly config: SessionConfig;
  readonly voice: VoiceRequest | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** The input, if it is not the conversation. */
  readonly input: readonly Item[] | null;
  /** Whether its items are added to the conversation. */
  readonly isInConversation: boolean;
  /** Started by the end of a turn, not by the caller. */
  readonly auto: boolean;
  /** Items that must be transcribed before it starts; null after the start. */
  readonly waitsFor: readonly string[] | null;
  readonly transcriptionMs: number | null;
  readonly entries: readonly Entry[];
  /** Index of the entry that is being sent. */
  readonly head: number;
  readonly output: readonly Item[];
  readonly answered: ChatEnd | null;
  readonly spoken: StageTimes | null;
  readonly startedAt: number;
}

export const entryItem = (entry: Entry, modality: Modality, status: Item['status']): Item => {
  const common = { id: entry.itemId, object: 'realtime.item', status } as const;
  if (entry.kind === 'call')
    return {
      ...common,
      type: 'function_call',
      call_id: entry.callId,
      name: entry.name,
      arguments: entry.text,
    };
  const content =
    modality === 'text'
      ? ({ type: 'output_text', text: entry.text } as const)
      : ({ type: 'output_audio', transcript: entry.text } as const);
  return { ...common, type: 'message', role: 'assistant', content: [content] };
};

const rounded = (ms: number): string => String(Math.round(ms));

/**
 * Returns the times of each stage as metadata, which holds strings only
 * (docs/spec/contract.md#realtime-stages).
 */
function times(response: ActiveResponse, now: number): Record<string, string> {
  const { answered, spoken, transcriptionMs, startedAt } = response;
  const rows: [string, number | null | undefined][] = [
    ['svc_stt_ms', transcriptionMs],
    ['svc_chat_first_ms', answered?.times.firstMs],
    ['svc_chat_ms', answered?.times.ms],
    ['svc_tts_first_ms', spoken?.firstMs],
    ['svc_tts_ms', spoken?.ms],
    ['svc_total_ms', now - startedAt],
  ];
  return Object.fromEntries(rows.flatMap(([name, ms]) => (ms == null ? [] : [[name, rounded(ms)]])));
}

export interface ResponseEnd {
  readonly status: 'completed' | 'cancelled' | 'failed' | 'incomplete';
  readonly details: object | null;
}

/** Returns the response as its caller sees it; `end` is null while it runs. */
export function responseResource(response: ActiveResponse, end: ResponseEnd | null, now: number): object {
  const { voice, config } = response;
  const output = voice && { format: voice.format, ...(voice.voice !== null && { voice: voice.voice }) };
  const tokens = response.answered?.tokens;
  return {
    object: 'realtime.response',
    id: response.id,
    // Responses outside the conversation may run beside others.
    ...(!response.isInConversation && { conversation_id: null }),
    status: end?.status ?? 'in_progress',
    status_details: end?.details ?? null,
    output: response.output,
    output_modalities: [response.modality],
    max_output_tokens: config.maxOutputTokens,
    metadata: end === null ? response.metadata : { ...response.metadata, ...times(response, now) },
    ...(output && { audio: { output } }),
    ...(end !== null && tokens && { usage: usage(tokens.input, tokens.output) }),
  };
}

const usage = (input: number, output: number): object => ({
  total_tokens: input + output,
  input_tokens: input,
  output_tokens: output,
  input_token_details: { text_tokens: input, audio_tokens: 0, cached_tokens: 0 },
  output_token_details: { text_tokens: output, audio_tokens: 0 },
});
