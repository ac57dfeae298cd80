import { ERRORS, isErrorCode } from '../../daemon/contract/errors.ts';

export interface FailureInfo {
  status: number;
  /** Whether the response carries the gateway's error envelope. Errors of upstreams do, too. */
  ours: boolean;
  code: string;
  message: string;
  /** Advice for the code; null when the code is not in the catalogue. */
  advice: string | null;
  details: Record<string, unknown>;
  requestId: string | null;
  retryAfterS: number | null;
  /** End of the delay in Unix milliseconds, so that every view shows the same countdown. */
  retryAt: number | null;
}

/** A failed call with the texts of the error catalogue (docs/spec/contract.md#errors). */
export class ApiError extends Error {
  readonly info: FailureInfo;

  constructor(info: FailureInfo) {
    super(info.message);
    this.name = 'ApiError';
    this.info = info;
  }
}

const LOST: FailureInfo = {
  status: 0,
  ours: false,
  code: 'connection.lost',
  message: 'Can’t reach the gateway.',
  advice: 'It may be restarting, or this device has left the network. The page reconnects automatically.',
  details: {},
  requestId: null,
  retryAfterS: null,
  retryAt: null,
};

/** The failure of a request without any response from the gateway. */
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

/** Parses an error object of an envelope or a stream; null when it is not from the gateway. */
export function failureInfoOf(error: unknown, status: number, headers: Headers): FailureInfo | null {
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

/** Reads a non-2xx response. A response without the envelope comes from an intermediary, and the message says so. */
export async function failureOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const ours = failureInfoOf(record(body)?.error, response.status, response.headers);
  if (ours) return new ApiError(ours);
  return new ApiError({
    ...LOST,
    status: response.status,
    code: `http.${response.status}`,
    message: `The response (status ${response.status}) does not come from the gateway.`,
    advice: 'Something in between responded, for example a reverse proxy. Check that the gateway is running.',
    requestId: response.headers.get('x-request-id'),
  });
}

/** Describes any thrown value as a failure. */
export function toFailureInfo(error: unknown): FailureInfo {
  if (error instanceof ApiError) return error.info;
  const message = error instanceof Error ? error.message : String(error);
  return {
    ...LOST,
    code: 'dashboard',
    message,
    advice: 'Reload the page. Nothing on the gateway has changed.',
  };
}

/**
 * The advice for the dashboard: without references to details, which are shown, and without a delay that a countdown shows.
 * Returns null when nothing remains.
 */
export function readableAdvice(info: Pick<FailureInfo, 'advice' | 'retryAfterS'>): string | null {
  const { advice } = info;
  if (advice === null || (info.retryAfterS !== null && /Retry-After|number of seconds/.test(advice))) {
    return null;
  }
  const rest = advice
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !sentence.includes('details.') && !sentence.startsWith('See details'));
  return rest.length === 0 ? null : rest.join(' ');
}

/** Whether a failure means that the gateway was not reached. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { status, ours, code } = error.info;
  return status === 0 || (!ours && /^http\.50[234]$/.test(code));
}

/** Whether a change was refused because the file has changed since it was read. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.info.code === 'config.stale';
}

/** Whether a login would resolve the failure. */
export function needsLogin(error: unknown): boolean {
  return error instanceof ApiError && error.info.code === 'auth.required';
}
