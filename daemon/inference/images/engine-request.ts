import { GatewayError } from '../../contract/errors.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { BadResponseError, queryUpstream, type ResponseObserver } from '../../upstreams/query-upstream.ts';
import { connectionFailure } from '../forward/failure.ts';

/** Maximum characters of an engine's text in the log. */
const MAX_ENGINE_TEXT = 2_000;

/** The address of an image engine or upstream, and what each request needs. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum time to connect in milliseconds; null uses the settings. */
  readonly connectMs: number | null;
  /** Set for an upstream. */
  readonly observer?: ResponseObserver;
}

export interface EngineRequest {
  readonly path: string;
  /** Sent as JSON by POST; without it the request is a GET. */
  readonly body?: unknown;
  /** Sent as JSON by POST as it is. */
  readonly bytes?: Buffer;
  /** Maximum time for the whole response in milliseconds. */
  readonly limitMs: number;
  readonly maxBytes: number;
}

export interface EngineReply {
  readonly status: number;
  readonly bytes: Buffer;
  /** Returns the body as JSON; undefined for invalid JSON. */
  json(): unknown;
}

/**
 * Sends one request. Rejects with a GatewayError that reveals nothing of the endpoint, or with the reason of
 * the signal.
 */
export type SendRequest = (question: EngineRequest, signal: AbortSignal) => Promise<EngineReply>;

export function requestSender(outbound: Pick<Outbound, 'dispatch'>, endpoint: Endpoint): SendRequest {
  return async ({ path, body, bytes: raw, limitMs, maxBytes }, signal) => {
    const sent = raw ?? (body === undefined ? null : Buffer.from(JSON.stringify(body)));
    const own = Object.entries(endpoint.headers).flat();
    const typed = sent === null ? own : [...own, 'content-type', 'application/json'];
    try {
      const { status, bytes } = await queryUpstream({
        outbound,
        limitMs,
        maxBytes,
        signal,
        observer: endpoint.observer,
        request: {
          origin: endpoint.origin,
          path,
          method: sent === null ? 'GET' : 'POST',
          headers: ['accept-encoding', 'identity', ...typed],
          body: sent,
          idleMs: limitMs,
          // A POST must not be sent twice because a reused connection died.
          ...(sent === null ? {} : { fresh: true }),
          ...(endpoint.connectMs === null ? {} : { connectMs: endpoint.connectMs }),
        },
      });
      return { status, bytes, json: () => parsed(bytes) };
    } catch (cause) {
      signal.throwIfAborted();
      throw failureOf(cause);
    }
  };
}

function failureOf(cause: unknown): GatewayError {
  if (cause instanceof BadResponseError)
    return badAnswer('The answer of the image engine is larger than the limit.', cause);
  if ((cause as Error | null)?.name === 'TimeoutError') {
    return new GatewayError('dispatch.upstream_timeout', { cause });
  }
  return connectionFailure(cause);
}

/** Returns 502 `upstream.error` for an engine that violates its protocol or failed to draw. `status` is its HTTP status. */
export const badAnswer = (
  message: string,
  cause?: unknown,
  reason = 'bad_answer',
  status?: number,
): GatewayError =>
  new GatewayError('upstream.error', {
    message,
    cause,
    details: { reason, ...(status !== undefined && { upstream_status: status }) },
  });

/** The engine reported that a drawing failed. Its own text is for the log only, because it may contain paths. */
export class DrawingFailed extends GatewayError {
  /** Bounded. */
  readonly engineText: string;

  constructor(error: GatewayError, engineText: unknown) {
    super(error.code, { ...error.options, message: error.message });
    this.engineText = typeof engineText === 'string' ? truncate(engineText.trim(), MAX_ENGINE_TEXT) : '';
  }
}

type Json = Record<string, unknown>;

/** Returns a value as a JSON object; an empty one for anything else. */
export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
