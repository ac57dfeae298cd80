import { GatewayError } from '../../contract/errors.ts';
import { ResponseDecoder } from '../../lib/net/decode-response.ts';
import { isStaleConnectionError, type Outbound, type OutboundRequest } from '../../lib/net/outbound.ts';
import { faultOf } from '../../upstreams/connection-error.ts';
import type { CallScope, EndReason } from './call-scope.ts';
import { Exchange, type ExchangeEnd, type ExchangeListener, type ExchangeOptions } from './exchange.ts';
import { connectionFailure } from './failure.ts';

export interface SendOptions extends ExchangeOptions {
  readonly outbound: Outbound;
  readonly request: OutboundRequest;
  readonly scope: CallScope;
}

/**
 * Sends one request and relays the response. Resolves with null for a complete response, or with the failure
 * that the caller received after the head. Throws failures before the head. Sends once more on a fresh
 * connection when a reused connection died before any byte of a response. Ends within the same tick as the
 * call scope.
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
  /** Why the first connection brought no response. It may have transmitted the request all the same. */
  #firstError: Error | null = null;

  constructor(options: SendOptions, resolve: (end: ExchangeEnd) => void, reject: (reason: unknown) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#unsubscribe = options.scope.onEnd((reason) => this.#abort(reason));
  }

  begin(): void {
    if (!this.#options.scope.endReason) this.#attempt();
  }

  done(end: ExchangeEnd): void {
    this.#unsubscribe();
    this.#resolve(end);
  }

  refused(error: GatewayError): void {
    this.#unsubscribe();
    const { sink } = this.#options;
    if (sink.headSent) {
      sink.fail(error);
      this.#resolve(error);
    } else this.#reject(error);
  }

  unanswered(error: Error): void {
    if (this.#firstError === null && isStaleConnectionError(error)) {
      this.#firstError = error;
      this.#attempt();
    } else
      this.refused(
        error instanceof GatewayError ? error : connectionFailure(rootFailure(this.#firstError, error)),
      );
  }

  #attempt(): void {
    const { outbound, request } = this.#options;
    this.#exchange = new Exchange(this.#options, this);
    const attempt = this.#firstError === null ? request : { ...request, fresh: true };
    outbound.dispatch(attempt, new ResponseDecoder(this.#exchange));
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

/**
 * Returns the failure to report: a second attempt that could not connect does not prove that the first one
 * was not sent.
 */
const rootFailure = (dropped: Error | null, error: Error): Error =>
  dropped !== null && faultOf(error).isUnsent ? dropped : error;
