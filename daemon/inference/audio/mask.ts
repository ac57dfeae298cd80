import { type FailureOptions, GatewayError } from '../../contract/errors.ts';
import { containsPath, type EngineFailure, judge, type Verdict } from '../forward/engine-error.ts';

const UNSUPPORTED = 'audio.unsupported_format';
const MAX_MESSAGE = 300;
/** Maximum nesting depth of an error body that is checked. */
const MAX_DEPTH = 16;
/** Words that reveal internals of an engine. */
const INTERNAL_WORDS = ['ffmpeg', 'subprocess', 'exit', 'signal', 'errno', 'Traceback', 'std::', 'map::'];
/** A port counts after a host name, which contains a letter, or on its own: `10:00` is a time. */
const ADDRESS =
  /\b\d{1,3}(?:\.\d{1,3}){3}\b|\w+:\/\/|\blocalhost\b|(?<!\d):\d{2,5}\b|[a-z][\w.-]{0,63}:\d{2,5}\b|\[[0-9a-f]*:[0-9a-f:]+\]/i;

/**
 * Masks failures of transcription engines (docs/spec/specification.md#transcriptions-mask,
 * docs/spec/contract.md#transcription-mask): a failure passes only when it is JSON with a short, harmless
 * message. Any other failure becomes 415 `audio.unsupported_format`. When the engine itself sends that code,
 * its message is used, with the details that the code promises.
 */
export function maskedFailure(failure: EngineFailure): Verdict {
  const { status } = failure;
  if (status === 401 || status === 403) return judge(failure);
  const details = { upstream_status: status };
  if (status < 400) return unsupported({ details });
  const body = failure.truncated ? undefined : parsed(failure.bytes);
  const message = messageIn(body);
  if (!isHarmless(message) || !isAllSafe(body)) return unsupported({ details });
  return codeIn(body) === UNSUPPORTED ? unsupported({ message, details }) : judge(failure);
}

const unsupported = (options: FailureOptions): Verdict => ({
  passes: false,
  error: new GatewayError(UNSUPPORTED, options),
});

/** Returns the message of an error body if it is harmless, else null. */
export function maskedMessage(bytes: Buffer): string | null {
  const message = messageIn(parsed(bytes));
  return isHarmless(message) ? message : null;
}

function isHarmless(message: unknown): message is string {
  return (
    typeof message === 'string' && message.length <= MAX_MESSAGE && !/[\r\n]/.test(message) && isSafe(message)
  );
}

/** Returns whether a text reveals no internals: no path, address or internal word. */
function isSafe(text: string): boolean {
  const lower = text.toLowerCase();
  return (
    !containsPath(text) &&
    !ADDRESS.test(text) &&
    !INTERNAL_WORDS.some((word) => lower.includes(word.toLowerCase()))
  );
}

/**
 * Checks every text in a JSON value: a body that is relayed byte for byte may contain more than its message.
 */
function isAllSafe(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isSafe(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth < MAX_DEPTH && Object.values(value).every((each) => isAllSafe(each, depth + 1));
}

type ErrorBody = { error?: { message?: unknown; code?: unknown } } | null | undefined;

const messageIn = (body: unknown): unknown => (body as ErrorBody)?.error?.message;
const codeIn = (body: unknown): unknown => (body as ErrorBody)?.error?.code;

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
