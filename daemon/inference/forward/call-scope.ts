import type { GatewayError } from '../../contract/errors.ts';
import type { Indexed } from '../../lib/perf/swap-remove-set.ts';
import type { CallerResponse } from '../caller.ts';

/** The client closed the connection before the response was complete. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client disconnected');
    this.name = 'ClientDisconnected';
  }
}

/** Status and code of such a call in the request log. */
export const CLIENT_CLOSED = { status: 499, error: 'client_closed' } as const;

export type EndReason = GatewayError | ClientDisconnected;

/**
 * The cancellation scope of one call. It ends once: when the client disconnects, an admin cancels, a limit
 * runs out or the gateway stops. Listeners stop their work at once.
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

  /**
   * Watches the response. A close before the last byte is sent is a client disconnect, unless the response
   * itself has failed.
   */
  constructor(res: CallerResponse) {
    this.#res = res;
    if (res.destroyed) this.#endReason = new ClientDisconnected();
    else res.on('close', this.#onClose);
  }

  /** The reason of the end; null while the scope is active. */
  get endReason(): EndReason | null {
    return this.#endReason;
  }

  /** An AbortSignal whose reason is the reason of the end. */
  get signal(): AbortSignal {
    this.#control ??= new AbortController();
    if (this.#endReason) this.#control.abort(this.#endReason);
    return this.#control.signal;
  }

  /** Ends the scope now. Further calls have no effect. */
  end(reason: EndReason): void {
    if (this.#endReason) return;
    this.#endReason = reason;
    this.#control?.abort(reason);
    for (const listener of this.#listeners.splice(0)) listener(reason);
  }

  /** Ends the scope with `reason` after `ms` milliseconds; 0 sets no limit. */
  limit(ms: number, reason: () => GatewayError): void {
    if (ms > 0) this.#timer = setTimeout(() => this.end(reason()), ms);
  }

  /**
   * Calls `listener` at the end, or immediately when the scope has ended. Returns a function that removes the
   * listener.
   */
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

  /** Stops watching after the call has ended. */
  dispose(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#res.removeListener('close', this.#onClose);
    this.#listeners = [];
  }
}
