import { ERRORS, isErrorCode } from '../../daemon/contract/errors.ts';

export interface FailurePicture {
  status: number;
  /** Whether the gateway said it itself, in its envelope; an upstream's words are in it, too. */
  ours: boolean;
  code: string;
  message: string;
  /** What to do next; null when the catalogue does not know the code. */
  advice: string | null;
  details: Record<string, unknown>;
  requestId: string | null;
  retryAfterS: number | null;
  /** The same as Unix milliseconds: it goes on to be counted wherever the failure is shown anew. */
  retryAt: number | null;
}

/** A failed call with the texts of the error catalogue (docs/spec/contract.md#errors). */
export class ApiError extends Error {
  readonly picture: FailurePicture;

  constructor(picture: FailurePicture) {
    super(picture.message);
    this.name = 'ApiError';
    this.picture = picture;
  }
}

const LOST: FailurePicture = {
  status: 0,
  ours: false,
  code: 'connection.lost',
  message: 'The gateway does not answer.',
  advice: 'It may be restarting, or this device has left the network. The page comes back by itself.',
  details: {},
  requestId: null,
  retryAfterS: null,
  retryAt: null,
};

/** The failure of a call that got no answer from the gateway at all. */
export function lost(): ApiError {
  return new ApiError(LOST);
}

function record(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function adviceFor(code: string): string | null {
  return isErrorCode(code) ? ERRORS[code].advice : null;
}

function seconds(details: Record<string, unknown>, header: string | null): number | null {
  const named = details.retry_after_s;
  if (typeof named === 'number' && named >= 0) return named;
  const value = header === null ? Number.NaN : Number(header);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

/** The picture of an error object as it stands in an envelope or in a stream; null when it is none of ours. */
export function pictureOf(error: unknown, status: number, headers: Headers): FailurePicture | null {
  const fields = record(error);
  if (fields === null || typeof fields.message !== 'string') return null;
  const code = typeof fields.code === 'string' ? fields.code : `http.${status}`;
  const details = record(fields.details) ?? {};
  const retryAfterS = seconds(details, headers.get('retry-after'));
  return {
    status,
    ours: true,
    code,
    message: fields.message,
    advice: adviceFor(code),
    details,
    requestId: headers.get('x-request-id'),
    retryAfterS,
    retryAt: retryAfterS === null ? null : Date.now() + retryAfterS * 1000,
  };
}

/** Reads a non-2xx answer. One without our envelope comes from something in between, and the message says so. */
export async function failureOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const ours = pictureOf(record(body)?.error, response.status, response.headers);
  if (ours) return new ApiError(ours);
  return new ApiError({
    ...LOST,
    status: response.status,
    code: `http.${response.status}`,
    message: `The answer (status ${response.status}) does not come from the gateway.`,
    advice: 'Something in between answered, for example a reverse proxy. Check that the gateway runs.',
    requestId: response.headers.get('x-request-id'),
  });
}

/** The picture of anything that was thrown. */
export function toPicture(error: unknown): FailurePicture {
  if (error instanceof ApiError) return error.picture;
  const message = error instanceof Error ? error.message : String(error);
  return {
    ...LOST,
    code: 'dashboard',
    message,
    advice: 'Reload the page; nothing on the gateway has changed.',
  };
}

/**
 * The advice as a reader of the dashboard needs it: without the part that points into details (they are shown), and
 * without a wait that is counted down beside it; null when nothing is left.
 */
export function readableAdvice(picture: Pick<FailurePicture, 'advice' | 'retryAfterS'>): string | null {
  const { advice } = picture;
  if (advice === null || (picture.retryAfterS !== null && /Retry-After|number of seconds/.test(advice))) {
    return null;
  }
  const pointer = /^See details\b[^;]*(?:; (.+))?/.exec(advice);
  if (pointer === null) return advice;
  const rest = pointer[1];
  return rest === undefined ? null : rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** True for a failure that says that nobody reached the gateway. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { status, ours, code } = error.picture;
  return status === 0 || (!ours && /^http\.50[234]$/.test(code));
}

/** True for a change that was refused because the file is no longer the one that was read. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.picture.code === 'config.stale';
}

/** True for a failure that a login would cure. */
export function needsLogin(error: unknown): boolean {
  return error instanceof ApiError && error.picture.code === 'auth.required';
}
