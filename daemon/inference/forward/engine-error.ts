import { GatewayError } from '../../contract/errors.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { tooLongNumbers } from './context-overflow.ts';
import { parameterIn, unwrapRayError } from './ray-error.ts';

/** Maximum bytes of an engine's error that are read. */
export const MAX_ERROR_BYTES = 64 * 1024;
/** Maximum characters of an engine's error in `details.upstream`. */
const MAX_DETAIL = 8 * 1024;
const MAX_MESSAGE = 1_000;
const MAX_PARAM = 64;
/** OpenAI's error code. Cerebras sends it next to the message of a flat body. */
const TOO_LONG = 'context_length_exceeded';

/** A file path: two or more segments, a home folder, or a drive letter. */
const PATH = /(?:^|[^\w/])~?(?:\/[\w.@+-]+){2,}|[A-Za-z]:\\/;

/** Returns whether a text contains a file path. */
export const containsPath = (text: string): boolean => PATH.test(text);

export interface EngineFailure {
  readonly status: number;
  readonly bytes: Buffer;
  /** The body is longer than what was read. */
  readonly truncated: boolean;
  /** The retry headers of the response (`retryHints`). */
  readonly hints?: Record<string, string>;
  /** The path of the request at the engine. */
  readonly path?: string;
}

/**
 * What to do with a non-2xx response: relay it byte for byte, or as `bytes`, or replace it with our error.
 */
export type Verdict =
  | { readonly passes: true; readonly bytes?: Buffer }
  | { readonly passes: false; readonly error: GatewayError };

type Json = Record<string, unknown>;

/**
 * Relays a JSON error whose `code` is a string or null. Wraps any other error
 * (docs/spec/contract.md#engine-errors).
 */
export function judge(failure: EngineFailure): Verdict {
  const { status } = failure;
  if (status === 401 || status === 403) return replacedBy(authFailed(status));
  if (status < 400) return replacedBy(unexpected(status));
  if (isMissingRoute(failure)) return replacedBy(missingRoute(failure));
  const whole = failure.truncated ? undefined : parsed(failure.bytes);
  const body = unwrapRayError(unwrapSingle(whole));
  const error = asObject(asObject(body)?.error);
  if (error?.type === 'exceed_context_size_error') return replacedBy(contextExceeded(error));
  if (body === whole && error && (typeof error.code === 'string' || error.code === null))
    return { passes: true };
  return replacedBy(tooLong(body) ?? wrapped(failure, status, body));
}

/** Like `judge`, for a route whose long text is in the field `param`. */
export const judgeWithParam =
  (param: string) =>
  (failure: EngineFailure): Verdict => {
    const verdict = judge(failure);
    if (verdict.passes || verdict.error.code !== 'context_length_exceeded') return verdict;
    const { message, options } = verdict.error;
    return replacedBy(new GatewayError('context_length_exceeded', { ...options, message, param }));
  };

/**
 * Returns the error for an error object, or `null`, inside a 200 (docs/spec/contract.md#error-inside-200):
 * 400 when it says so, otherwise 502.
 */
export function errorInside200(bytes: Buffer, truncated: boolean): GatewayError {
  const body = truncated ? undefined : unwrapSingle(parsed(bytes));
  if (body === null) return unexpectedNull();
  const error = asObject(asObject(body)?.error);
  if (error?.type === 'exceed_context_size_error') return contextExceeded(error);
  const callersFault = [error?.code, error?.status].some((value) => value === 400 || value === '400');
  const status = callersFault || error?.type === 'invalid_request_error' ? 400 : 502;
  return tooLong(body) ?? wrapped({ status: 200, bytes, truncated }, status, body);
}

const ERROR_START = '{"error":';

/**
 * Returns whether a 200 body is `null` or starts like a non-null error object; undefined while too few bytes
 * are known.
 */
export function startsLikeError(head: Buffer): boolean | undefined {
  const start = head.toString('latin1', 0, 256).replaceAll(/\s+/g, '');
  const open = head.length < 256 ? undefined : false;
  if (start.startsWith('null')) return true;
  if (start !== '' && 'null'.startsWith(start)) return open;
  if (!start.startsWith(ERROR_START)) return ERROR_START.startsWith(start) ? open : false;
  const value = start.slice(ERROR_START.length, ERROR_START.length + 4);
  return value.length < 4 && 'null'.startsWith(value) ? open : value !== 'null';
}

const replacedBy = (error: GatewayError): Verdict => ({ passes: false, error });

const authFailed = (status: number) =>
  new GatewayError('upstream.auth_failed', { details: { upstream_status: status }, noRetry: true });

const unexpected = (status: number) =>
  new GatewayError('upstream.error', {
    message:
      status >= 300
        ? 'The engine or upstream answered with a redirect, which is not followed.'
        : 'The engine or upstream answered with an unexpected status.',
    details: { upstream_status: status },
  });

/** What servers answer for a path without a route: FastAPI, Starlette, Go, Express, Flask. */
const NO_ROUTE =
  /^\s*(?:\{\s*"(?:detail|message|error)"\s*:\s*"(?:Not Found|Method Not Allowed)\.?"\s*\}|Not Found|404:? (?:page )?not found|Method Not Allowed|Cannot (?:GET|POST) \/[^<]{0,200}|.{0,200}The requested URL was not found on the server.{0,200})\s*$/is;

/** Returns whether an engine or upstream lacks the route, and not the model. */
export const isMissingRoute = ({ status, bytes }: Pick<EngineFailure, 'status' | 'bytes'>): boolean =>
  (status === 404 || status === 405) && bytes.length <= 1024 && NO_ROUTE.test(bytes.toString('utf8'));

const missingRoute = ({ status, path }: EngineFailure) =>
  new GatewayError('upstream.error', {
    status: 404,
    message: `The engine or upstream has no ${path ?? 'such route'}, so it cannot serve this kind of request.`,
    details: { upstream_status: status },
  });

/**
 * Engines that were started without a feature respond like this (FastFlowLM without `--asr` or `--embed`).
 */
const unexpectedNull = () =>
  new GatewayError('upstream.error', {
    message: 'The engine or upstream answered with nothing.',
    details: { upstream_status: 200 },
  });

/**
 * Returns the error for a prompt longer than the context window, with the message and numbers of
 * llama-server.
 */
function contextExceeded(error: Json): GatewayError {
  const { n_prompt_tokens, n_ctx } = error;
  return new GatewayError('context_length_exceeded', {
    message: typeof error.message === 'string' ? error.message : undefined,
    param: 'messages',
    details: { n_prompt_tokens, n_ctx },
  });
}

/**
 * Returns an error for a text that was refused as too long, whatever the status and wording. Includes the
 * numbers under llama-server's names if the message has them.
 */
function tooLong(body: unknown): GatewayError | null {
  const root = asObject(body);
  const error = asObject(root?.error);
  const candidates = [error?.message, root?.error, root?.message];
  const message = candidates.find((place) => typeof place === 'string') as string | undefined;
  const numbers = message === undefined ? null : tooLongNumbers(message);
  if (numbers === null && ![error?.code, root?.code].includes(TOO_LONG)) return null;
  const isSafe = message !== undefined && (numbers !== null || !containsPath(message));
  return contextExceeded({
    message: isSafe ? truncate(message.trim(), MAX_MESSAGE) : undefined,
    n_prompt_tokens: numbers?.requested,
    n_ctx: numbers?.most,
  });
}

function wrapped(failure: EngineFailure, status: number, body: unknown): GatewayError {
  const text = failure.bytes.toString('utf8');
  const keep = !failure.truncated && text !== '' && text.length <= MAX_DETAIL && !containsPath(text);
  const details: Json = { upstream_status: failure.status };
  if (keep) details.upstream = body ?? text;
  return new GatewayError('upstream.error', {
    status,
    message: messageOf(body, text, keep),
    param: engineParam(body),
    details,
    headers: failure.hints,
  });
}

function messageOf(body: unknown, text: string, keep: boolean): string | undefined {
  const found = engineMessage(body) ?? (body || text.trim() === '' ? undefined : text);
  if (found === undefined || (!keep && (containsPath(found) || !body)) || /^\s*</.test(found))
    return undefined;
  return truncate(found.trim(), MAX_MESSAGE);
}

/** Returns the message in the body of an error, in the forms that engines and providers use. */
export function engineMessage(body: unknown): string | undefined {
  const root = asObject(body);
  const candidates = [
    asObject(root?.error)?.message,
    root?.error,
    root?.message,
    root?.detail,
    firstDetail(root?.detail),
    firstDetail(asObject(root?.message)?.detail),
  ];
  return candidates.find((place) => typeof place === 'string' && place.trim() !== '') as string | undefined;
}

/**
 * Returns the text of an error and the field that it names, without anything that it repeats from the
 * request.
 */
export function errorTextOf(bytes: Buffer): string {
  const body = asObject(parsed(bytes)) ?? {};
  const error = asObject(body.error) ?? {};
  const [detail] = asList(body.detail).map(asObject);
  const texts = [error.message, error.param, body.error, body.message, body.detail, detail?.msg];
  return [...texts, ...asList(detail?.loc)].filter((text) => typeof text === 'string').join('\n');
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

/**
 * FastAPI reports validation errors as a list with the path of the field. Mistral puts that list into
 * `message`.
 */
function firstDetail(detail: unknown): string | undefined {
  const { msg } = firstEntry(detail);
  if (typeof msg !== 'string') return undefined;
  const field = fieldOf(detail);
  return field === '' ? msg : `${field}: ${msg}`;
}

const firstEntry = (detail: unknown): Json => asObject(asList(detail)[0]) ?? {};

/** Returns the path of the field without `body`; empty when unknown. */
function fieldOf(detail: unknown): string {
  const { loc } = firstEntry(detail);
  const steps = asList(loc).filter((step) => typeof step !== 'object');
  return steps.slice(steps[0] === 'body' ? 1 : 0).join('.');
}

/** Returns the field of the request that an error names; undefined when it names none. */
export function engineParam(body: unknown): string | undefined {
  const root = asObject(body);
  const inDetail = fieldOf(root?.detail) || fieldOf(asObject(root?.message)?.detail);
  const inMessage = parameterIn(engineMessage(body) ?? '');
  const named = asObject(root?.error)?.param ?? root?.param ?? (inDetail || inMessage);
  return typeof named === 'string' && named !== '' && named.length <= MAX_PARAM ? named : undefined;
}

/** Unwraps a list of one element: Gemini's API wraps its error in a list, which no client reads. */
const unwrapSingle = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 ? value[0] : value;

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
