import { GatewayError } from '../../contract/errors.ts';
import { ResponseDecoder } from '../../lib/net/decode-response.ts';
import { isDrop, isUnwrittenError, type Outbound, type OutboundRequest } from '../../lib/net/outbound.ts';
import type { CallScope, EndReason } from './call-scope.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeEnd, ExchangeListener, ExchangeOptions } from './exchange-options.ts';
import { connectionFailure, RequestUnsent } from './failure.ts';

export interface SendOptions extends ExchangeOptions {
  readonly outbound: Outbound;
  readonly request: OutboundRequest;
  readonly scope: CallScope;
  /** Sets the listener for the end of the exchange because its upstream is down. */
  onDown?(listener: (reason: GatewayError) => void): void;
}

/**
 * Sends one request and relays the response. Resolves with null for a complete response, or with the failure
 * that the caller received inside of it. Throws failures before the first byte of an answer, also while the
 * caller receives keep-alive comments. Sends on a fresh
 * connection when a reused one was closed before any byte of the request was sent. Ends within the same tick as
 * the call scope.
 */
export function send(options: SendOptions): Promise<ExchangeEnd> {
  return new Promise((resolve, reject) => new PendingSend(options, resolve, reject).begin());
}

class PendingSend implements ExchangeListener {
  readonly #options: SendOptions;
  readonly #resolve: (end: ExchangeEnd) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #unsubscribe: () => void;
  #exchange: Exchange | null = null;
  /** A reused connection was closed before anything was sent on it. */
  #needsFresh = false;

  constructor(options: SendOptions, resolve: (end: ExchangeEnd) => void, reject: (reason: unknown) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#unsubscribe = options.scope.onEnd((reason) => this.#abort(reason));
  }

  begin(): void {
    if (this.#options.scope.endReason) return;
    this.#options.onDown?.((reason) => this.#onDown(reason));
    this.#attempt();
  }

  done(end: ExchangeEnd): void {
    this.#unsubscribe();
    this.#resolve(end);
  }

  refused(error: GatewayError): void {
    this.#unsubscribe();
    this.#reject(error);
  }

  unanswered(error: Error): void {
    const isUnsent = this.#exchange?.isStarted === false || isUnwrittenError(error);
    if (isUnsent && isDrop(error) && !this.#needsFresh) {
      this.#needsFresh = true;
      this.#attempt();
    } else if (error instanceof GatewayError) this.refused(error);
    else this.refused(isUnsent ? new RequestUnsent(error) : connectionFailure(error));
  }

  #attempt(): void {
    const { outbound, request } = this.#options;
    this.#exchange = new Exchange(this.#options, this);
    const attempt = this.#needsFresh ? { ...request, fresh: true } : request;
    outbound.dispatch(attempt, new ResponseDecoder(this.#exchange));
  }

  /** Closes the connection before the request may go to another upstream. */
  #onDown(reason: GatewayError): void {
    const { isAnswering } = this.#exchange ?? { isAnswering: false };
    this.#exchange?.abort();
    if (!isAnswering) {
      this.refused(reason);
      return;
    }
    this.#options.sink.fail(reason);
    this.done(reason);
  }

  #abort(reason: EndReason): void {
    const { sink } = this.#options;
    this.#exchange?.abort();
    if (sink.headSent && reason instanceof GatewayError) {
      sink.fail(reason);
      this.#resolve(reason);
    } else this.#reject(reason);
  }
}
