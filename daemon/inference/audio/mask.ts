import { type FailureOptions, GatewayError } from '../../contract/errors.ts';
import {
  containsPath,
  type EngineFailure,
  engineMessage,
  engineParam,
  judge,
  type Verdict,
} from '../forward/engine-error.ts';

const UNSUPPORTED = 'audio.unsupported_format';
const MAX_MESSAGE = 300;
/** Maximum nesting depth of an error body that is checked. */
const MAX_DEPTH = 16;
/** Words that reveal internals of an engine, as whole words. */
const INTERNAL_WORDS =
  /(?<!\w)(?:ffmpeg|subprocess|exit code|exit status|signal|errno|traceback)(?!\w)|(?<!\w)(?:std|map)::/i;
/** A line of a stack trace of JavaScript or Python. */
const STACK_LINE = /^\s+at .+:\d+:\d+\)?$|^\s*File ".+", line \d+/m;
/** A port counts after a host name, which contains a letter, or on its own: `10:00` is a time. */
const ADDRESS =
  /\b\d{1,3}(?:\.\d{1,3}){3}\b|\w+:\/\/|\blocalhost\b|(?<!\d):\d{2,5}\b|[a-z][\w.-]{0,63}:\d{2,5}\b|\[[0-9a-f]*:[0-9a-f:]+\]/i;
/** The path of an API, which is public. */
const API_PATH =
  /(?<![\w./-])\/(?:v\d+|api|openai|audio(?=\/(?:transcriptions|translations)))(?:\/[\w-]+)*/gi;
/** A page of a public site, as providers name in their messages. */
const PUBLIC_PAGE = /https:\/\/(?:[a-z0-9-]+\.)+(?:com|org|net|io|ai|dev|co|eu)(?![\w.:-])[\w./?#=&%-]*/gi;
const MARKUP = /^\ufeff?\s*</;

/**
 * Judges a failure of a transcription engine (docs/spec/specification.md#transcriptions-mask,
 * docs/spec/contract.md#transcription-errors). A failure whose text exposes internals of the engine becomes
 * 415 `audio.unsupported_format`. Any other failure keeps its status class, with the text of the engine when
 * that is a short JSON message and a text of the gateway otherwise.
 */
export function maskedFailure(failure: EngineFailure): Verdict {
  const { status } = failure;
  if (status < 400 || status === 401 || status === 403) return judge(failure);
  const text = failure.bytes.toString('utf8');
  const body = failure.truncated ? undefined : parsed(failure.bytes);
  const details = { upstream_status: status };
  const safety = body === undefined ? safetyOf(text) : safetyOfBody(body);
  if (safety === 'exposes' && !MARKUP.test(text))
    return replacedBy(new GatewayError(UNSUPPORTED, { details }));
  const message = safety === 'safe' ? engineMessage(body) : undefined;
  const isShort = message !== undefined && isShortLine(message) && !containsPath(message);
  if (status === 415 || (isShort && codeIn(body) === UNSUPPORTED))
    return replacedBy(new GatewayError(UNSUPPORTED, { ...(isShort && { message }), details }));
  return isShort ? withParam(judge(failure), body) : replacedBy(ownError(failure, body));
}

const replacedBy = (error: GatewayError): Verdict => ({ passes: false, error });

const isFieldFault = (status: number): boolean => status === 400 || status === 422;

/** The field of the request at fault. Most failures are about the recording. */
const paramOf = (body: unknown): string => engineParam(body) ?? 'file';

/** A replaced error about a field is 400 and names the field. */
function withParam(verdict: Verdict, body: unknown): Verdict {
  if (verdict.passes || verdict.error.code !== 'upstream.error' || !isFieldFault(verdict.error.status))
    return verdict;
  const { message, options } = verdict.error;
  return replacedBy(
    new GatewayError('upstream.error', { ...options, message, status: 400, param: paramOf(body) }),
  );
}

/** Texts of the gateway for statuses with one meaning. */
const OWN_TEXTS: Readonly<Record<number, string>> = {
  400: 'The engine or upstream rejected the recording or a field of the form.',
  404: 'The engine or upstream has no transcription for this model.',
  413: 'The recording is too large for the engine or upstream.',
  422: 'The engine or upstream rejected the recording or a field of the form.',
  429: 'The engine or upstream accepts no more requests for now.',
  503: 'The engine or upstream is not available for now.',
};

/** Returns the error for a failure without a short message. */
function ownError({ status, hints }: EngineFailure, body: unknown): GatewayError {
  const options: FailureOptions = {
    message: OWN_TEXTS[status] ?? `The engine or upstream answered with HTTP status ${status}.`,
    details: { upstream_status: status },
    ...(hints && { headers: hints }),
  };
  if (isFieldFault(status))
    return new GatewayError('upstream.error', { ...options, status: 400, param: paramOf(body) });
  const own = status >= 500 && status !== 503 ? 502 : status;
  return new GatewayError('upstream.error', { ...options, status: own });
}

/** Returns the message of an error body on one line if it is harmless, else null. LiteLLM adds lines to the message of a provider. */
export function maskedMessage(bytes: Buffer): string | null {
  const message = (parsed(bytes) as ErrorBody)?.error?.message;
  if (typeof message !== 'string' || safetyOf(message) !== 'safe') return null;
  const line = message.trim().replace(/\s*[\r\n]+\s*/g, ' ');
  return isShortLine(line) ? line : null;
}

const isShortLine = (text: string): boolean => text.length <= MAX_MESSAGE && !/[\r\n]/.test(text);

/** Whether a text reveals internals: a path, an address, a stack trace or an internal word. */
type Safety = 'safe' | 'exposes' | 'unknown';

function safetyOf(text: string): Safety {
  const rest = text.replace(PUBLIC_PAGE, '').replace(API_PATH, '');
  const exposes =
    containsPath(rest) || ADDRESS.test(rest) || INTERNAL_WORDS.test(rest) || STACK_LINE.test(rest);
  return exposes ? 'exposes' : 'safe';
}

/**
 * Checks every text in a JSON value: a body that is relayed byte for byte may contain more than its message.
 * A body that is nested too deeply is not relayed.
 */
function safetyOfBody(value: unknown, depth = 0): Safety {
  if (typeof value === 'string') return safetyOf(value);
  if (typeof value !== 'object' || value === null) return 'safe';
  if (depth >= MAX_DEPTH) return 'unknown';
  const parts = Object.values(value).map((each) => safetyOfBody(each, depth + 1));
  return parts.find((part) => part === 'exposes') ?? parts.find((part) => part === 'unknown') ?? 'safe';
}

type ErrorBody = { error?: { message?: unknown; code?: unknown } } | null | undefined;

const codeIn = (body: unknown): unknown => (body as ErrorBody)?.error?.code;

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
