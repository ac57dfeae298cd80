import { USABLE_HEALTH } from '../contract/upstreams.ts';
import type { Upstream } from './upstream.ts';

/** Interval of the poller in milliseconds. */
const INTERVAL_MS = 30_000;
/** Minimum interval for a provider: it is remote and may charge for requests. */
const PROVIDER_PAUSE_MS = 5 * 60_000;

export interface HealthPollerDeps {
  upstreams(): readonly Upstream[];
  /** Asks one for its list in the background. */
  poll(upstream: Upstream): void;
  maxAgeMs(): number;
  /** Milliseconds that never jump. */
  monotonic(): number;
  /** Overrides the interval, for tests. */
  readonly intervalMs?: number;
}

/**
 * Polls upstreams without traffic, so that one that comes back is found and new models in the own network
 * appear. Requests lists only, and only when something may have changed. Does not keep the process alive.
 */
export class HealthPoller {
  readonly #options: HealthPollerDeps;
  readonly #polledAt = new WeakMap<Upstream, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: HealthPollerDeps) {
    this.#options = options;
  }

  /** Call this when upstreams were added or removed. Without any, no timer runs. */
  update(): void {
    if (this.#options.upstreams().length === 0) this.stop();
    else this.#timer ??= setInterval(() => this.#round(), this.#options.intervalMs ?? INTERVAL_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #round(): void {
    const { upstreams, poll, maxAgeMs, monotonic } = this.#options;
    for (const upstream of upstreams()) {
      if (!needsPoll(upstream, maxAgeMs()) || this.#isPolledRecently(upstream)) continue;
      this.#polledAt.set(upstream, monotonic());
      poll(upstream);
    }
  }

  #isPolledRecently(upstream: Upstream): boolean {
    const before = this.#polledAt.get(upstream);
    if (!upstream.config.remote || before === undefined) return false;
    return this.#options.monotonic() - before < PROVIDER_PAUSE_MS;
  }
}

/**
 * Whether an upstream is unhealthy, or its list is missing or outdated (for upstreams without cost), and it
 * may be requested now.
 */
export function needsPoll(upstream: Upstream, maxAgeMs: number): boolean {
  const { config, listing, breaker } = upstream;
  if (!config.enabled || upstream.isSelf || upstream.isKeyMissing) return false;
  if (!listing.isDue || breaker.waitMs > 0) return false;
  if (!USABLE_HEALTH.has(upstream.health)) return true;
  return config.remote ? config.models === null && listing.fetchedAt === null : upstream.isCold(maxAgeMs);
}
