import type { GatewayError } from '../../contract/errors.ts';
import type { Indexed } from '../../lib/perf/swap-remove-set.ts';
import type { CallerResponse } from '../caller.ts';

/** The caller closed its connection before the answer was complete. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the caller left');
    this.name = 'CallerLeft';
  }
}

/** What the request log says of such a call. */
export const CLIENT_CLOSED = { status: 499, error: 'client_closed' } as const;

export type EndReason = GatewayError | ClientDisconnected;

/**
 * The life of one call. It ends once: when the caller leaves, an admin cancels, a limit runs out or the gateway stops;
 * whoever works for the call listens and stops its work at once.
 */
export class CallScope implements Indexed {
  index = 0;
  #endReason: EndReason | null = null;
  #control: AbortController | null = null;
  #timer: NodeJS.Timeout | null = null;
  #listeners: ((reason: EndReason) => void)[] = [];
  readonly #res: CallerResponse;
  readonly #onClose = (): void => {
    if (!this.#res.writableFinished) this.end(this.#res.failure ?? new ClientDisconnected());
  };

  /** Watches the response: its close before the last byte is out means that the caller has left, unless it says why. */
  constructor(res: CallerResponse) {
    this.#res = res;
    if (res.destroyed) this.#endReason = new ClientDisconnected();
    else res.on('close', this.#onClose);
  }

  /** Why it ended, or null while it goes on. */
  get endReason(): EndReason | null {
    return this.#endReason;
  }

  /** For those who listen to signals; its reason is that of the end. */
  get signal(): AbortSignal {
    this.#control ??= new AbortController();
    if (this.#endReason) this.#control.abort(this.#endReason);
    return this.#control.signal;
  }

  /** Ends it now; a second end changes nothing. */
  end(reason: EndReason): void {
    if (this.#endReason) return;
    this.#endReason = reason;
    this.#control?.abort(reason);
    for (const listener of this.#listeners.splice(0)) listener(reason);
  }

  /** Ends it with `reason` after `ms` milliseconds; 0 sets no limit. */
  limit(ms: number, reason: () => GatewayError): void {
    if (ms > 0) this.#timer = setTimeout(() => this.end(reason()), ms);
  }

  /** Calls `listener` at the end, at once when it is over; the answer takes it out again. */
  onEnd(listener: (reason: EndReason) => void): () => void {
    if (this.#endReason) {
      listener(this.#endReason);
      return () => {};
    }
    this.#listeners.push(listener);
    return () => {
      const at = this.#listeners.lastIndexOf(listener);
      if (at >= 0) this.#listeners.splice(at, 1);
    };
  }

  /** The call is done: nothing is watched any more. */
  dispose(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#res.removeListener('close', this.#onClose);
    this.#listeners = [];
  }
}
