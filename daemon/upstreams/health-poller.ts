import { USABLE_HEALTH } from '../contract/upstreams.ts';
import type { Upstream } from './upstream.ts';

/** How often it is thought about whom to look at, milliseconds. */
const EVERY_MS = 30_000;
/** A provider of somebody else is looked at no more often than this: it is far away, and counts what it is asked. */
const PROVIDER_PAUSE_MS = 5 * 60_000;

export interface LooksOptions {
  upstreams(): readonly Upstream[];
  /** Asks one for its list in the background. */
  look(upstream: Upstream): void;
  maxAgeMs(): number;
  /** Milliseconds that never jump. */
  steady(): number;
  /** Another time than the usual one, for tests. */
  readonly everyMs?: number;
}

/**
 * Looks at upstreams that nobody calls, so that one that was off is found when it comes back, and one of the own network
 * shows its new models. Asks for a list only, and only where something may have changed; never keeps the process alive.
 */
export class Looks {
  readonly #options: LooksOptions;
  readonly #lookedAt = new WeakMap<Upstream, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  /** To be called whenever upstreams have come or gone: without any, nothing runs. */
  tend(): void {
    if (this.#options.upstreams().length === 0) this.stop();
    else this.#timer ??= setInterval(() => this.#round(), this.#options.everyMs ?? EVERY_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #round(): void {
    const { upstreams, look, maxAgeMs, steady } = this.#options;
    for (const upstream of upstreams()) {
      if (!wantsLook(upstream, maxAgeMs()) || this.#lookedLately(upstream)) continue;
      this.#lookedAt.set(upstream, steady());
      look(upstream);
    }
  }

  #lookedLately(upstream: Upstream): boolean {
    const before = this.#lookedAt.get(upstream);
    if (!upstream.config.remote || before === undefined) return false;
    return this.#options.steady() - before < PROVIDER_PAUSE_MS;
  }
}

/** It is not well, or its list is missing, or too old where asking costs nobody anything; and it may be asked now. */
export function wantsLook(upstream: Upstream, maxAgeMs: number): boolean {
  const { config, listing, breaker } = upstream;
  if (!config.enabled || upstream.isSelf || upstream.keyMissing) return false;
  if (!listing.due || breaker.waitMs > 0) return false;
  if (!USABLE_HEALTH.has(upstream.health)) return true;
  return config.remote ? config.models === null && listing.at === null : upstream.cold(maxAgeMs);
}
