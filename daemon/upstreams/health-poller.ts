import { USABLE_HEALTH } from '../contract/upstreams.ts';
import type { Upstream } from './upstream.ts';

/** How often it is thought about whom to look at, milliseconds. */
const INTERVAL_MS = 30_000;
/** A provider of somebody else is looked at no more often than this: it is far away, and counts what it is asked. */
const PROVIDER_PAUSE_MS = 5 * 60_000;

export interface HealthPollerDeps {
  upstreams(): readonly Upstream[];
  /** Asks one for its list in the background. */
  poll(upstream: Upstream): void;
  maxAgeMs(): number;
  /** Milliseconds that never jump. */
  monotonic(): number;
  /** Another time than the usual one, for tests. */
  readonly intervalMs?: number;
}

/**
 * Looks at upstreams that nobody calls, so that one that was off is found when it comes back, and one of the own network
 * shows its new models. Asks for a list only, and only where something may have changed; never keeps the process alive.
 */
export class HealthPoller {
  readonly #options: HealthPollerDeps;
  readonly #polledAt = new WeakMap<Upstream, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: HealthPollerDeps) {
    this.#options = options;
  }

  /** To be called whenever upstreams have come or gone: without any, nothing runs. */
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

/** It is not well, or its list is missing, or too old where asking costs nobody anything; and it may be asked now. */
export function needsPoll(upstream: Upstream, maxAgeMs: number): boolean {
  const { config, listing, breaker } = upstream;
  if (!config.enabled || upstream.isSelf || upstream.isKeyMissing) return false;
  if (!listing.isDue || breaker.waitMs > 0) return false;
  if (!USABLE_HEALTH.has(upstream.health)) return true;
  return config.remote ? config.models === null && listing.fetchedAt === null : upstream.isCold(maxAgeMs);
}
