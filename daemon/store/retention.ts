import type { RequestsRepo } from './requests.ts';
import type { RetentionLimits } from './retention-limits.ts';
import type { UsageRepo } from './usage.ts';

export interface RetentionOptions {
  readonly requests: Pick<RequestsRepo, 'prune'>;
  readonly usage: Pick<UsageRepo, 'prune'>;
  /** Called at each step. */
  limits(): RetentionLimits;
  /** Unix milliseconds. */
  now(): number;
}

/** Pause between two rounds. Within a round, each tick performs one step. */
export const ROUND_MS = 60_000;
const DAY_MS = 86_400_000;

const ago = (now: number, days: number): string | null =>
  days === 0 ? null : new Date(Math.max(0, now - days * DAY_MS)).toISOString();

/**
 * Keeps the request log and the usage sums within their limits. Each `tick` performs at most one small step
 * for each, so that large removals do not block the event loop. After a finished round it pauses.
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
    // If the clock is set back, rounds must not pause until it has caught up.
    if (now < this.#nextAt && this.#nextAt - now <= ROUND_MS) return;
    const { requestRows, requestDays, usageRows, usageDays } = this.#options.limits();
    const moreRequests = requests.prune({ rows: requestRows, since: ago(now, requestDays) });
    const sinceDay = ago(now, usageDays)?.slice(0, 10) ?? null;
    const moreUsage = usage.prune({ rows: usageRows, sinceDay });
    this.#nextAt = moreRequests || moreUsage ? now : now + ROUND_MS;
  }
}
