import { CircuitBreaker } from './circuit-breaker.ts';

/** Maximum number of models of one upstream with failures in memory. */
export const MAX_MODELS = 64;
const NO_MODELS: ReadonlySet<string> = new Set();

/**
 * The circuit breakers of the models of one upstream. Contains only models that failed since their last
 * success; the least recently failed one is dropped beyond the limit.
 */
export class ModelBreakers {
  readonly #now: () => number;
  /** In order of the last failure. */
  readonly #breakers = new Map<string, CircuitBreaker>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The breaker of a model; undefined for a model without failures. */
  get(model: string): CircuitBreaker | undefined {
    return this.#breakers.get(model);
  }

  /** The breaker of a model that has just failed. */
  obtain(model: string): CircuitBreaker {
    const breaker = this.#breakers.get(model) ?? new CircuitBreaker(this.#now);
    this.#breakers.delete(model);
    this.#breakers.set(model, breaker);
    const [oldest] = this.#breakers.keys();
    if (this.#breakers.size > MAX_MODELS && oldest !== undefined) this.#breakers.delete(oldest);
    return breaker;
  }

  /** A call for this model succeeded. */
  recordSuccess(model: string): void {
    this.#breakers.delete(model);
  }

  /** The upstream answered a small request. Says nothing about a paused model before its next trial is due. */
  recordReachable(): void {
    for (const breaker of this.#breakers.values()) if (breaker.waitMs === 0) breaker.recordReachable();
  }

  /** Models whose last call failed. */
  get failing(): ReadonlySet<string> {
    if (this.#breakers.size === 0) return NO_MODELS;
    const failing = [...this.#breakers].filter(([, breaker]) => !breaker.isHealthy);
    return new Set(failing.map(([model]) => model));
  }

  /** The cause of the latest failure of any model that is failing; null without one. */
  get cause(): string | null {
    let cause: string | null = null;
    for (const breaker of this.#breakers.values()) if (!breaker.isHealthy) cause = breaker.cause;
    return cause;
  }
}
