import type { IncomingHttpHeaders } from 'node:http';

/** The hub refused a request or failed. */
export class HubStatus extends Error {
  override readonly name = 'HubStatus';
  readonly status: number;
  /** GatedRepo, RepoNotFound, RevisionNotFound, EntryNotFound. Null when absent. */
  readonly code: string | null;
  /** Seconds that the hub asks to wait. Null when absent. */
  readonly retryAfterS: number | null;

  constructor(status: number, code: string | null, retryAfterS: number | null = null) {
    super(`the hub answers with status ${status}`);
    this.status = status;
    this.code = code;
    this.retryAfterS = retryAfterS;
  }
}

/** Returns the hub's error code. */
export function codeOf(headers: IncomingHttpHeaders): string | null {
  const code = headers['x-error-code'];
  return typeof code === 'string' && /^[A-Za-z]{1,64}$/.test(code) ? code : null;
}

/** Maximum wait that a hub may request, in seconds. */
const MAX_WAIT_S = 300;

/** Parses `Retry-After` in whole seconds. A date or an invalid value is null. */
export function retryAfterOf(headers: IncomingHttpHeaders): number | null {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, MAX_WAIT_S) : null;
}
