/** A call that received nothing for longer is not receiving. Milliseconds. */
const SILENT_AFTER_MS = 10_000;

/** One call from its permission to its end. */
export class ActiveCall {
  /** Time of the last byte; null before the status. */
  lastDataAt: number | null = null;
}

/** The calls in progress of one upstream. */
export class ActiveCalls {
  readonly #now: () => number;
  readonly #calls = new Set<ActiveCall>();

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(): ActiveCall {
    const call = new ActiveCall();
    this.#calls.add(call);
    return call;
  }

  recordData(call: ActiveCall): void {
    call.lastDataAt = this.#now();
  }

  end(call: ActiveCall): void {
    this.#calls.delete(call);
  }

  /** Whether any call in progress has received data recently. */
  get isReceiving(): boolean {
    const since = this.#now() - SILENT_AFTER_MS;
    for (const { lastDataAt } of this.#calls) if (lastDataAt !== null && lastDataAt > since) return true;
    return false;
  }
}
