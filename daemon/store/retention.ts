import type { RequestsRepo } from './requests.ts';
import type { UsageRepo } from './usage.ts';

/** What is kept of the request log and of usage. Days of 0 mean that age does not count. */
export interface RetentionLimits {
  readonly requestRows: number;
  readonly requestDays: number;
  readonly usageRows: number;
  readonly usageDays: number;
}

/** As the settings have it by default. */
export const DEFAULT_RETENTION: RetentionLimits = {
  requestRows: 20_000,
  requestDays: 30,
  usageRows: 50_000,
  usageDays: 400,
};

export interface RetentionOptions {
  readonly requests: Pick<RequestsRepo, 'prune'>;
  readonly usage: Pick<UsageRepo, 'prune'>;
  /** Read anew at each step. */
  limits(): RetentionLimits;
  /** Unix milliseconds. */
  now(): number;
}

/** Between two rounds; within one the next step comes with the next tick. */
export const ROUND_MS = 60_000;
const DAY_MS = 86_400_000;

const ago = (now: number, days: number): string | null =>
  days === 0 ? null : new Date(Math.max(0, now - days * DAY_MS)).toISOString();

/**
 * Keeps the request log and the usage sums within their rows and their age. Each `tick` does at most one small step of
 * each, so that no round, however much it removes, holds up the event loop; a finished round is followed by rest.
 */
export class Retention {
  readonly #options: RetentionOptions;
  #nextAt = 0;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Called about once a second. Never throws. */
  tick(): void {
    const { requests, usage } = this.#options;
    const now = this.#options.now();
    // A clock that was set back must not stop the rounds for as long as it was ahead.
    if (now < this.#nextAt && this.#nextAt - now <= ROUND_MS) return;
    const { requestRows, requestDays, usageRows, usageDays } = this.#options.limits();
    const moreRequests = requests.prune({ rows: requestRows, since: ago(now, requestDays) });
    const sinceDay = ago(now, usageDays)?.slice(0, 10) ?? null;
    const moreUsage = usage.prune({ rows: usageRows, sinceDay });
    this.#nextAt = moreRequests || moreUsage ? now : now + ROUND_MS;
  }
}
