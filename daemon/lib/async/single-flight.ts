interface Flight<V> {
  readonly promise: Promise<V>;
  readonly control: AbortController;
  waiters: number;
}

/**
 * Runs one operation per key at a time and shares its outcome with all callers that arrive while it runs. A
 * caller whose signal aborts rejects at once with the signal's reason. When the last caller has left, the
 * operation itself is aborted. Nothing is stored after a run has ended, so a failure is never cached.
 */
export class SingleFlight<V> {
  readonly #flights = new Map<string, Flight<V>>();

  /** Number of keys with a running operation. */
  get size(): number {
    return this.#flights.size;
  }

  /**
   * Joins the running operation of `key`, or starts it. A caller without a signal keeps the operation
   * running.
   */
  async run(key: string, start: (signal: AbortSignal) => Promise<V>, signal?: AbortSignal): Promise<V> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#launch(key, start);
    flight.waiters += 1;
    if (signal === undefined) return flight.promise;
    let leave: () => void = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        this.#leave(key, flight);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([flight.promise, left]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #launch(key: string, start: (signal: AbortSignal) => Promise<V>): Flight<V> {
    const control = new AbortController();
    const promise = (async () => start(control.signal))().finally(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    promise.catch(() => {});
    const flight: Flight<V> = { promise, control, waiters: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  #leave(key: string, flight: Flight<V>): void {
    flight.waiters -= 1;
    if (flight.waiters > 0) return;
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    flight.control.abort(new DOMException('all callers have gone away', 'AbortError'));
  }
}
