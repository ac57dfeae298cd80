import { GatewayError } from '../../contract/errors.ts';
import { diedWhileReused, type Outbound, type OutboundRequest } from '../../kit/outbound.ts';
import { faultOf } from '../../upstreams/fault.ts';
import type { EngineFailure, Verdict } from './engine-error.ts';
import { Exchange, type ExchangeEnd, type Sink } from './exchange.ts';
import { connectionFailure } from './failure.ts';
import type { Life } from './life.ts';

export interface SendOptions {
  readonly outbound: Outbound;
  readonly request: OutboundRequest;
  readonly answer: Sink;
  readonly life: Life;
  judge?(failure: EngineFailure): Verdict;
  /** A whole answer as the events of a stream that has begun; null for what cannot be told so. */
  asEvents?(bytes: Buffer): string | null;
  /** Our own credentials in `request.headers`. */
  secrets?(): readonly Buffer[];
  /** The engine is somebody else's. */
  readonly foreign?: boolean;
  /** Told the status of the answer as soon as it begins. */
  begun?(status: number): void;
}

/**
 * Sends one request and passes the answer on. Resolves with null for a whole answer, or with the failure that the
 * caller was told after the head; throws what goes wrong before. Sent once more, on a fresh connection, when a reused
 * one died before any byte of an answer. Ends within the same turn when the call's life ends.
 */
export function send(options: SendOptions): Promise<ExchangeEnd> {
  const { outbound, answer, life, request } = options;
  return new Promise((resolve, reject) => {
    let exchange: Exchange | undefined;
    const forget = life.onEnd((reason) => {
      exchange?.abort();
      if (answer.headSent && reason instanceof GatewayError) {
        answer.fail(reason);
        resolve(reason);
      } else reject(reason);
    });
    const refused = (error: GatewayError) => {
      forget();
      if (!answer.headSent) return reject(error);
      answer.fail(error);
      resolve(error);
    };
    /** `dropped`: why the first connection brought nothing; it may have carried the request all the same. */
    const attempt = (dropped: Error | null) => {
      exchange = new Exchange({
        answer,
        judge: options.judge,
        asEvents: options.asEvents,
        secrets: options.secrets,
        foreign: options.foreign,
        begun: options.begun,
        refused,
        done: (end) => {
          forget();
          resolve(end);
        },
        unanswered: (error) => {
          if (dropped === null && diedWhileReused(error)) attempt(error);
          else refused(error instanceof GatewayError ? error : connectionFailure(lastOf(dropped, error)));
        },
      });
      outbound.dispatch(dropped === null ? request : { ...request, fresh: true }, exchange);
    };
    if (!life.ended) attempt(null);
  });
}

/** What a failure is taken for: a second try that could not connect does not make the first one unsent. */
const lastOf = (dropped: Error | null, error: Error): Error =>
  dropped !== null && faultOf(error).unsent ? dropped : error;
