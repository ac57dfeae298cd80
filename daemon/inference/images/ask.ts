import { GatewayError } from '../../contract/errors.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import { BadResponseError, queryUpstream } from '../../upstreams/ask.ts';
import { connectionFailure } from '../forward/failure.ts';

/** An engine or upstream that draws, and what it demands of each request. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Longest time for a connection to open, milliseconds; null leaves it to the settings. */
  readonly connectMs: number | null;
}

export interface EngineRequest {
  readonly path: string;
  /** Sent as JSON by POST; without it the question is a GET. */
  readonly body?: unknown;
  /** Longest time for the whole answer, milliseconds. */
  readonly limitMs: number;
  readonly maxBytes: number;
}

export interface EngineReply {
  readonly status: number;
  readonly bytes: Buffer;
  /** The body as JSON; undefined when it is none. */
  json(): unknown;
}

/** Puts one question to a place. Rejects with a GatewayError that tells nothing of the place, or the signal's reason. */
export type SendRequest = (question: EngineRequest, signal: AbortSignal) => Promise<EngineReply>;

export function requestSender(outbound: Pick<Outbound, 'dispatch'>, place: Endpoint): SendRequest {
  return async ({ path, body, limitMs, maxBytes }, signal) => {
    const sent = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const own = Object.entries(place.headers).flat();
    const typed = sent === null ? own : [...own, 'content-type', 'application/json'];
    try {
      const { status, bytes } = await queryUpstream({
        outbound,
        limitMs,
        mostBytes: maxBytes,
        signal,
        request: {
          origin: place.origin,
          path,
          method: sent === null ? 'GET' : 'POST',
          headers: ['accept-encoding', 'identity', ...typed],
          body: sent,
          idleMs: limitMs,
          // What is posted must not be posted twice because a kept connection had died.
          ...(sent === null ? {} : { fresh: true }),
          ...(place.connectMs === null ? {} : { connectMs: place.connectMs }),
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
  if (cause instanceof BadResponseError) return badAnswer('Its answer is larger than is read.', cause);
  if ((cause as Error | null)?.name === 'TimeoutError') {
    return new GatewayError('dispatch.upstream_timeout', { cause });
  }
  return connectionFailure(cause);
}

/** 502 `upstream.error` for an engine that does not keep to its own protocol, or could not draw. */
export const badAnswer = (message: string, cause?: unknown, reason = 'bad_answer'): GatewayError =>
  new GatewayError('upstream.error', { message, cause, details: { reason } });

type Json = Record<string, unknown>;

/** A value as a JSON object; an empty one for anything else. */
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
