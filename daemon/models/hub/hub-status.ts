import type { IncomingHttpHeaders } from 'node:http';

/** The hub refused or failed. */
export class HubStatus extends Error {
  override readonly name = 'HubStatus';
  readonly status: number;
  /** GatedRepo, RepoNotFound, RevisionNotFound, EntryNotFound; null when it names none. */
  readonly code: string | null;
  /** Seconds that the hub asks to wait; null when it names none. */
  readonly retryAfterS: number | null;

  constructor(status: number, code: string | null, retryAfterS: number | null = null) {
    super(`the hub answers with status ${status}`);
    this.status = status;
    this.code = code;
    this.retryAfterS = retryAfterS;
  }
}

/** The word by which the hub says why. */
export function codeOf(headers: IncomingHttpHeaders): string | null {
  const code = headers['x-error-code'];
  return typeof code === 'string' && /^[A-Za-z]{1,64}$/.test(code) ? code : null;
}

/** Longest wait that a hub may ask for, seconds. */
const MAX_WAIT_S = 300;

/** `Retry-After` in whole seconds; a date or nonsense counts as none. */
export function retryAfterOf(headers: IncomingHttpHeaders): number | null {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, MAX_WAIT_S) : null;
}
