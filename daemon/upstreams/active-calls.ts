import type { GatewayError } from '../contract/errors.ts';

/** A call that received nothing for longer is not receiving. Milliseconds. */
const SILENT_AFTER_MS = 10_000;

/** Receives the reason when the upstream of a call is down. */
export type DownListener = (reason: GatewayError) => void;

/** One call from its permission to its end. */
export class ActiveCall {
  /** Position among all calls of the upstream, starting at 1. */
  readonly number: number;
  /** Time of the last byte; null before the status. */
  lastDataAt: number | null = null;
  onDown: DownListener | null = null;

  constructor(number: number) {
    this.number = number;
  }
}

/** The calls in progress of one upstream. */
export class ActiveCalls {
  readonly #now: () => number;
  readonly #calls = new Set<ActiveCall>();
  #started = 0;
  /** Time of the last data, or the start of the first call since then. */
  #silentSince: number | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Number of calls in progress. */
  get count(): number {
    return this.#calls.size;
  }

  /** Number of all calls so far. */
  get started(): number {
    return this.#started;
  }

  begin(): ActiveCall {
    const call = new ActiveCall(++this.#started);
    this.#calls.add(call);
    this.#silentSince ??= this.#now();
    return call;
  }

  recordData(call: ActiveCall): void {
    call.lastDataAt = this.#silentSince = this.#now();
  }

  end(call: ActiveCall): void {
    this.#calls.delete(call);
    // Callers who give up one after the other must not hide that nothing is answered.
    if (this.#calls.size === 0 && call.lastDataAt !== null) this.#silentSince = null;
  }

  /** Whether any call in progress has received data recently. */
  get isReceiving(): boolean {
    const since = this.#now() - SILENT_AFTER_MS;
    for (const { lastDataAt } of this.#calls) if (lastDataAt !== null && lastDataAt > since) return true;
    return false;
  }

  /** Time since which no call has received data; null while no calls are in progress. */
  get silentSince(): number | null {
    return this.#calls.size === 0 ? null : this.#silentSince;
  }

  /** Ends the calls without any data, and those whose last data is `silenceMs` old. */
  endSilent(silenceMs: number, reason: (isWaiting: boolean) => GatewayError): void {
    const before = this.#now() - silenceMs;
    for (const call of [...this.#calls]) {
      const isSilent = call.lastDataAt === null || call.lastDataAt <= before;
      const { onDown } = call;
      if (!isSilent || onDown === null) continue;
      call.onDown = null;
      onDown(reason(call.lastDataAt === null));
    }
  }
}
