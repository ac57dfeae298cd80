import type { Tier } from '../../contract/auth.ts';
import type { CallerInfo } from '../../contract/caller-info.ts';
import { GatewayError } from '../../contract/errors.ts';
import { newRequestId } from '../../lib/request-id.ts';
import type { Internal, InternalPath, InternalReply } from '../internal.ts';
import { eventsOf, refusalOf, wholeJson } from '../internal-read.ts';
import type { ChatRequest } from './chat-body.ts';
import { chatBody } from './chat-body.ts';
import { DEFAULT_MODELS, type SessionConfig } from './session-config.ts';
import type { VoiceRequest } from './stage-types.ts';
import { type PcmSource, pcmOf } from './voice-sound.ts';
import { asWav, wavForm } from './wav-body.ts';

/** Time limit of each stage in milliseconds, its load included. */
const LIMITS_MS = { transcribe: 300_000, chat: 1_800_000, synthesize: 300_000 } as const;
const MAX_TRANSCRIPT_BYTES = 1024 * 1024;

export interface StageDeps {
  readonly internal: Internal;
  readonly tier: Tier;
  /** Who opened the session. */
  readonly caller?: CallerInfo | undefined;
}

interface Call {
  readonly path: InternalPath;
  readonly body: Buffer;
  readonly contentType?: string;
  readonly translated?: boolean;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

const callInternal = ({ internal, tier, caller }: StageDeps, call: Call): Promise<InternalReply> =>
  internal({ ...call, id: newRequestId(), tier, caller });

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Transcribes a turn. Throws what the route throws, and the reason of the signal. */
export async function transcribe(
  deps: StageDeps,
  sound: Buffer,
  { format, transcription }: SessionConfig['input'],
  signal: AbortSignal,
): Promise<{ text: string; seconds: number }> {
  const wav = asWav(format, sound);
  const { model, language, prompt } = transcription ?? {};
  const fields = {
    model: model ?? DEFAULT_MODELS.stt,
    response_format: 'json',
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
  };
  const { type, body } = wavForm(fields, wav);
  const call = { path: '/v1/audio/transcriptions', body, contentType: type, signal } as const;
  const answer = await callInternal(deps, { ...call, limitMs: LIMITS_MS.transcribe });
  const reply = (await wholeJson(answer, MAX_TRANSCRIPT_BYTES)) as { text?: unknown } | null;
  if (typeof reply?.text !== 'string')
    throw new GatewayError('upstream.error', { message: 'The transcript is empty.' });
  return { text: reply.text.trim(), seconds: Math.round((wav.length - 44) / 3_200) / 10 };
}

/** Yields the events of the chat that answers a conversation. */
export async function* chat(
  deps: StageDeps,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<Record<string, unknown>> {
  const body = json(chatBody(request));
  const call = { path: '/v1/chat/completions', body, translated: true, signal } as const;
  yield* eventsOf(await callInternal(deps, { ...call, limitMs: LIMITS_MS.chat }));
}

/** Returns the audio of one sentence as a stream of PCM samples. */
export async function synthesize(
  deps: StageDeps,
  text: string,
  { voice, speed }: VoiceRequest,
  signal: AbortSignal,
): Promise<PcmSource> {
  const body = json({
    model: DEFAULT_MODELS.tts,
    input: text,
    response_format: 'pcm',
    ...(voice !== null && { voice }),
    ...(speed !== 1 && { speed }),
  });
  const answer = await callInternal(deps, {
    path: '/v1/audio/speech',
    body,
    signal,
    limitMs: LIMITS_MS.synthesize,
  });
  if (answer.status >= 300) throw await refusalOf(answer);
  return pcmOf(answer);
}
