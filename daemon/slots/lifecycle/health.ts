import type { Outbound, OutboundController } from '../../lib/net/outbound.ts';
import type { Check } from '../engines/engine.ts';
import type { Endpoint } from '../runners/runner.ts';

/** Bytes of an answer that are read; a health answer is small. */
const MOST_BYTES = 1 << 20;

export interface EngineAnswer {
  readonly status: number;
  readonly body: string;
}

/** What is asked; a check without its judgement. */
export type Question = Pick<Check, 'method' | 'path' | 'body' | 'limitMs'>;

/** Asks a started engine one question; rejects when it does not answer within its limit. */
export type AskEngine = (
  endpoint: Endpoint,
  question: Question,
  signal: AbortSignal,
) => Promise<EngineAnswer>;

function headersOf(endpoint: Endpoint, body: Buffer | null): string[] {
  const all = { accept: 'application/json', ...endpoint.headers };
  const typed = body === null ? all : { ...all, 'content-type': 'application/json' };
  return Object.entries(typed).flat();
}

/** AskEngine over the one opener of connections. */
export function askThrough(outbound: Pick<Outbound, 'dispatch'>): AskEngine {
  return (endpoint, { method, path, body: asked, limitMs }, signal) => {
    const body = asked === undefined ? null : Buffer.from(JSON.stringify(asked));
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
    const chunks: Buffer[] = [];
    let [status, bytes] = [0, 0];
    let controller: OutboundController | null = null;
    const stop = () => {
      reject(limit.reason);
      controller?.abort(limit.reason instanceof Error ? limit.reason : new Error('aborted'));
    };
    outbound.dispatch(
      {
        origin: endpoint.origin,
        method,
        path,
        headers: headersOf(endpoint, body),
        body,
        idleMs: limitMs,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (limit.aborted) stop();
        },
        onResponseStart(_, code) {
          status = code;
        },
        onResponseData(current, chunk) {
          bytes += chunk.length;
          if (bytes > MOST_BYTES) current.abort(new Error('the answer is too large'));
          else chunks.push(chunk);
        },
        onResponseEnd: () => resolve({ status, body: Buffer.concat(chunks).toString('utf8') }),
        onResponseError: (_, error) => reject(error),
      },
    );
    limit.addEventListener('abort', stop, { once: true });
    return promise.finally(() => limit.removeEventListener('abort', stop));
  };
}

/** Why a started engine is not fit to serve, in one line. */
export class CheckFailure extends Error {}

/**
 * Runs every check against the engine, in order; resolves when all succeeded
 * (docs/spec/contract.md#slot-ready): health, a model list that holds the model, one short completion.
 * Rejects with CheckFailure, or with the signal's reason.
 */
export async function runChecks(
  ask: AskEngine,
  endpoint: Endpoint,
  checks: readonly Check[],
  signal: AbortSignal,
): Promise<void> {
  for (const check of checks) {
    let answer: EngineAnswer;
    try {
      answer = await ask(endpoint, check, signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw new CheckFailure(`The engine did not answer the ${check.name} check in time.`, { cause });
    }
    const wrong = check.verdict(answer.status, answer.body);
    if (wrong !== null) throw new CheckFailure(`${wrong}.`);
  }
}
