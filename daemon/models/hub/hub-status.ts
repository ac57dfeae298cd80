import type { IncomingHttpHeaders } from 'node:http';

/** The hub refused a request or failed. */
export class HubStatus extends Error {
  override readonly name = 'HubStatus';
  readonly status: number;
  /** GatedRepo, RepoNotFound, RevisionNotFound, EntryNotFound. Null when absent. */
  readonly code: string | null;
  /** Seconds that the hub asks to wait. Null when absent. */
  readonly retryAfterS: number | null;
  /** Whether a token was sent. */
  readonly withToken: boolean;

  constructor(
    status: number,
    code: string | null,
    { retryAfterS = null, withToken = false }: { retryAfterS?: number | null; withToken?: boolean } = {},
  ) {
    super(`the hub answers with status ${status}`);
    this.status = status;
    this.code = code;
    this.retryAfterS = retryAfterS;
    this.withToken = withToken;
  }
}

/** Returns the hub's error code. */
export function codeOf(headers: IncomingHttpHeaders): string | null {
  const code = headers['x-error-code'];
  return typeof code === 'string' && /^[A-Za-z]{1,64}$/.test(code) ? code : null;
}

/** Maximum wait that a hub may request, in seconds. */
const MAX_WAIT_S = 300;

/**
 * Returns the seconds that the hub asks to wait: `Retry-After` in seconds or as a date (RFC 9110 section 10.2.3), else
 * the reset of an exhausted quota in `RateLimit` (draft-ietf-httpapi-ratelimit-headers). Null when absent or invalid.
 */
export function retryAfterOf(headers: IncomingHttpHeaders, now = Date.now()): number | null {
  const text = headers['retry-after']?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  const wait = Number.isNaN(seconds) ? quotaResetOf(headers) : seconds;
  return wait === null ? null : Math.min(MAX_WAIT_S, Math.max(0, Math.ceil(wait)));
}

/** Returns the longest time until an exhausted quota is reset, as in `"resolvers";r=0;t=7`. */
function quotaResetOf({ ratelimit }: IncomingHttpHeaders): number | null {
  if (typeof ratelimit !== 'string') return null;
  const resets = ratelimit.split(',').flatMap((item) => {
    const [, remaining] = /;\s*r=(\d{1,9})\s*(?:;|$)/.exec(item) ?? [];
    const [, reset] = /;\s*t=(\d{1,9})\s*(?:;|$)/.exec(item) ?? [];
    return remaining !== undefined && Number(remaining) === 0 && reset !== undefined ? [Number(reset)] : [];
  });
  return resets.length === 0 ? null : Math.max(...resets);
}
