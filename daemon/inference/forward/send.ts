import { GatewayError } from '../../contract/errors.ts';
import { isStaleConnectionError, type Outbound, type OutboundRequest } from '../../lib/net/outbound.ts';
import { faultOf } from '../../upstreams/fault.ts';
import type { EndReason, Life } from './call-scope.ts';
import { Exchange, type ExchangeEnd, type ExchangeOptions, type ExchangeOwner } from './exchange.ts';
import { connectionFailure } from './failure.ts';

export interface SendOptions extends ExchangeOptions {
  readonly outbound: Outbound;
  readonly request: OutboundRequest;
  readonly life: Life;
}

/**
 * Sends one request and passes the answer on. Resolves with null for a whole answer, or with the failure that the
 * caller was told after the head; throws what goes wrong before. Sent once more, on a fresh connection, when a reused
 * one died before any byte of an answer. Ends within the same turn when the call's life ends.
 */
export function send(options: SendOptions): Promise<ExchangeEnd> {
  return new Promise((resolve, reject) => new Sending(options, resolve, reject).begin());
}

class Sending implements ExchangeOwner {
  readonly #options: SendOptions;
  readonly #resolve: (end: ExchangeEnd) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #forget: () => void;
  #exchange: Exchange | null = null;
  /** Why the first connection brought nothing; it may have carried the request all the same. */
  #dropped: Error | null = null;

  constructor(options: SendOptions, resolve: (end: ExchangeEnd) => void, reject: (reason: unknown) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#forget = options.life.onEnd((reason) => this.#cut(reason));
  }

  begin(): void {
    if (!this.#options.life.ended) this.#attempt();
  }

  done(end: ExchangeEnd): void {
    this.#forget();
    this.#resolve(end);
  }

  refused(error: GatewayError): void {
    this.#forget();
    const { answer } = this.#options;
    if (answer.headSent) {
      answer.fail(error);
      this.#resolve(error);
    } else this.#reject(error);
  }

  unanswered(error: Error): void {
    if (this.#dropped === null && isStaleConnectionError(error)) {
      this.#dropped = error;
      this.#attempt();
    } else
      this.refused(error instanceof GatewayError ? error : connectionFailure(lastOf(this.#dropped, error)));
  }

  #attempt(): void {
    const { outbound, request } = this.#options;
    this.#exchange = new Exchange(this.#options, this);
    outbound.dispatch(this.#dropped === null ? request : { ...request, fresh: true }, this.#exchange);
  }

  #cut(reason: EndReason): void {
    const { answer } = this.#options;
    this.#exchange?.abort();
    if (answer.headSent && reason instanceof GatewayError) {
      answer.fail(reason);
      this.#resolve(reason);
    } else this.#reject(reason);
  }
}

/** What a failure is taken for: a second try that could not connect does not make the first one unsent. */
const lastOf = (dropped: Error | null, error: Error): Error =>
  dropped !== null && faultOf(error).isUnsent ? dropped : error;
