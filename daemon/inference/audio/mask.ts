import { GatewayError } from '../../contract/errors.ts';
import { type EngineFailure, holdsPath, judge, type Verdict } from '../forward/engine-error.ts';

const MAX_MESSAGE = 300;
/** Words that show the inside of an engine. */
const INSIDE = ['ffmpeg', 'subprocess', 'exit', 'signal', 'errno', 'Traceback', 'std::', 'map::'];
const ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}\b|\w+:\/\/|\blocalhost\b|:\d{2,5}\b|\[[0-9a-f]*:[0-9a-f:]+\]/i;

/**
 * Transcriptions (spec "Transcriptions deviations", contract section 9): a failure of the engine passes only when it is
 * JSON with a short, harmless message; anything else becomes 415 `audio.unsupported_format`.
 */
export function maskedFailure(failure: EngineFailure): Verdict {
  const { status } = failure;
  if (status < 400 || status === 401 || status === 403) return judge(failure);
  if (!failure.truncated && harmless(messageOf(failure.bytes))) return judge(failure);
  return {
    passes: false,
    error: new GatewayError('audio.unsupported_format', { details: { upstream_status: status } }),
  };
}

/** The message of an error body when it is harmless, else null. */
export function maskedMessage(bytes: Buffer): string | null {
  const message = messageOf(bytes);
  return harmless(message) ? (message as string) : null;
}

function harmless(message: unknown): boolean {
  if (typeof message !== 'string' || message.length > MAX_MESSAGE || /[\r\n]/.test(message)) return false;
  const lower = message.toLowerCase();
  return (
    !holdsPath(message) &&
    !ADDRESS.test(message) &&
    !INSIDE.some((word) => lower.includes(word.toLowerCase()))
  );
}

function messageOf(bytes: Buffer): unknown {
  try {
    return (JSON.parse(bytes.toString('utf8')) as { error?: { message?: unknown } } | null)?.error?.message;
  } catch {
    return undefined;
  }
}
