/** Budget of the limiter, read at each attempt. */
export interface LimiterBudget {
  /** Events per window. */
  readonly max: number;
  readonly windowS: number;
}

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly retryAfterS: number };

export interface LoginLimiter {
  /**
   * Counts one attempt of `address` if the budget allows it. A refused attempt is not recorded, so hammering does not
   * extend a block. `retryAfterS` is whole seconds, at least 1; an attempt after exactly that long passes.
   */
  take(address: string): Verdict;
  /** Number of stored addresses. */
  readonly size: number;
}

export interface LimiterOptions {
  budget: () => LimiterBudget;
  /** Milliseconds of a clock that never jumps. */
  clock?: () => number;
  /** Maximum number of stored addresses. */
  capacity?: number;
}

const OK: Verdict = Object.freeze({ ok: true });
const CAPACITY = 50_000;

/**
 * The rate limit of login and rotate: one sliding window for both, one bucket per address
 * (docs/spec/specification.md#login-limiter). Both maps are ordered by the last event, so that the oldest
 * address is the first one. At capacity the oldest unblocked address is removed; when only blocked addresses
 * are left, a new address waits for the first of them.
 */
export function createLoginLimiter(options: LimiterOptions): LoginLimiter {
  const clock = options.clock ?? (() => performance.now());
  const capacity = options.capacity ?? CAPACITY;
  const open = new Map<string, number[]>();
  const full = new Map<string, number[]>();

  const evictForNewAddress = (nowMs: number, windowMs: number): Verdict => {
    if (open.size + full.size < capacity) return OK;
    const free = first(open);
    if (free !== undefined) {
      open.delete(free[0]);
      return OK;
    }
    const [address, events] = first(full) as [string, number[]];
    const waitMs = (events.at(-1) as number) + windowMs - nowMs;
    if (waitMs > 0) return refused(waitMs);
    full.delete(address);
    return OK;
  };

  return {
    take(address) {
      const { max, windowS } = options.budget();
      const nowMs = Math.floor(clock());
      const windowMs = Math.max(1, Math.round(windowS * 1000));
      const known = open.get(address) ?? full.get(address);
      const events = recent(known ?? [], nowMs - windowMs);
      if (events.length >= max) return refused((events[events.length - max] as number) + windowMs - nowMs);
      if (known === undefined) {
        const hasCapacity = evictForNewAddress(nowMs, windowMs);
        if (!hasCapacity.ok) return hasCapacity;
      }
      events.push(nowMs);
      open.delete(address);
      full.delete(address);
      (events.length >= max ? full : open).set(address, events);
      return OK;
    },
    get size() {
      return open.size + full.size;
    },
  };
}

const refused = (waitMs: number): Verdict => ({
  ok: false,
  retryAfterS: Math.max(1, Math.ceil(waitMs / 1000)),
});

const first = <K, V>(map: Map<K, V>): [K, V] | undefined => map.entries().next().value;

/**
 * Returns the events that are still inside the window. An event leaves it exactly one window after it
 * happened.
 */
function recent(events: number[], horizonMs: number): number[] {
  let old = 0;
  while (old < events.length && (events[old] as number) <= horizonMs) old++;
  return old === 0 ? events : events.slice(old);
}
