import type { Context } from 'koa';
import type { AuthRequest } from '../auth/auth.ts';
import type { Caller } from '../auth/credentials.ts';
import type { MatchedRoute, RouteId } from '../contract/routes.ts';
import type { RequestTarget } from '../lib/net/request-target.ts';

/** One request with the results of the pipeline. */
export interface Call {
  readonly id: string;
  /** `performance.now()` at arrival. */
  readonly receivedAt: number;
  readonly target: RequestTarget;
  readonly auth: AuthRequest;
  readonly caller: Caller;
  readonly route: MatchedRoute;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Handles one request. The body is already read and validated. The return value is the JSON response;
 * `undefined` means that the handler wrote the response itself.
 */
export type Handler = (ctx: Context, call: Call, body: unknown) => unknown;

/** Rows that are answered over a WebSocket, not by a handler. */
export type SocketRouteId = 'v1.realtime';
export type HttpRouteId = Exclude<RouteId, SocketRouteId>;

/** One handler for each row: a missing one does not compile. */
export type Handlers = Record<HttpRouteId, Handler>;
