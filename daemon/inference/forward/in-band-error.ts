import { catalogCodeOf, ERRORS, isErrorCode } from '../../contract/errors.ts';

/** A failure that the caller received in the engine's own words. */
export class InBandError {
  /** The engine's code if it is a single word, else `upstream.error`. */
  readonly code: string;
  /** The status that the error implies; null when it implies none. */
  readonly status: number | null;
  /** The engine's message; null without one. */
  readonly message: string | null;

  constructor(code: string, status: number | null, message: unknown = null) {
    this.code = code;
    this.status = status;
    this.message = typeof message === 'string' ? message : null;
  }
}

type Json = Readonly<Record<string, unknown>>;

/** A code is one word without spaces or control characters. */
const WORD = /^[\x21-\x7e]+$/;

/** Error types of OpenAI and Anthropic that identify the party at fault. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['insufficient_quota', 429],
  ['server_error', 500],
  ['api_error', 500],
  ['overloaded_error', 503],
]);

/** Returns the failure in an error body that is relayed unchanged. */
export function errorInBody(body: unknown, status: number): InBandError {
  const { code, message } = asObject(asObject(body)?.error) ?? {};
  const word = typeof code === 'string' && WORD.test(code) ? code : 'upstream.error';
  return new InBandError(word, status, message);
}

/** Returns the failure in the last events of a stream; null when there is none. */
export function errorInEvents(end: Buffer): InBandError | null {
  if (!end.includes('"error"')) return null;
  for (const line of end
    .toString('utf8')
    .split(/[\r\n]+/)
    .reverse()) {
    const error = line.startsWith('data:') ? errorIn(line.slice('data:'.length)) : null;
    if (error !== null) return new InBandError(catalogCodeOf(error.code), statusOf(error), error.message);
  }
  return null;
}

/**
 * Returns the status that an error object implies by its code or type; null when it implies none. The code of
 * a wrapped error says nothing of its status, so its type counts first.
 */
export function statusOf({ code, status, type }: Json): number | null {
  const httpStatus = [code, status]
    .map(Number)
    .find((each) => Number.isInteger(each) && each >= 400 && each < 600);
  if (httpStatus !== undefined) return httpStatus;
  const byCode = isErrorCode(code) ? ERRORS[code].status : null;
  const byType = STATUSES.get(type) ?? null;
  return code === 'upstream.error' ? (byType ?? byCode) : (byCode ?? byType);
}

function errorIn(data: string): Json | null {
  if (!data.includes('"error"')) return null;
  try {
    const error = asObject(JSON.parse(data))?.error;
    return asObject(error) ?? (typeof error === 'string' && error !== '' ? { message: error } : null);
  } catch {
    return null;
  }
}

const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
