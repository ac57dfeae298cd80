import type { IncomingMessage } from 'node:http';
import type { RouterContext, RouterMiddleware } from '@koa/router';
import type { WebSocket } from 'ws';
import type { AuthRequest } from '../auth/auth.ts';
import type { Caller } from '../auth/credentials.ts';
import type { MatchedRoute, ROUTES, RouteId } from '../contract/routes.ts';
import type { RequestTarget } from '../lib/net/request-target.ts';

/** What the guards know about a request: `ctx.state`, also of a WebSocket. */
export interface Call {
  /** `x-request-id`. */
  readonly id: string;
  /** `performance.now()` at arrival. */
  readonly receivedAt: number;
  readonly target: RequestTarget;
  readonly auth: AuthRequest;
  readonly caller: Caller;
  readonly route: MatchedRoute;
}

/** The context of a route. Its body is already validated in `ctx.request.body`. */
export type RouteContext = RouterContext<Call>;

/** Handles one route: sets `ctx.body`, or throws an error of the catalogue. */
export type Handler = (ctx: RouteContext) => unknown;

/** Serves an inference route: writes the response to `res`, or throws before the first byte. */
export type InferenceHandler = (exchange: Pick<RouteContext, 'req' | 'res' | 'state'>) => Promise<void>;

/** What runs before a handler. */
export type RouteMiddleware = RouterMiddleware<Call>;

/** Rows that are answered over a WebSocket, not by a handler. */
export type SocketRouteId = 'v1.realtime';
export type HttpRouteId = Exclude<RouteId, SocketRouteId>;

/** Rows of the kind `inference`. */
export type InferenceRouteId = {
  [Id in RouteId]: (typeof ROUTES)[Id]['kind'] extends 'inference' ? Id : never;
}[RouteId];

/** The context of an accepted socket (koa-websocket). */
export interface SocketContext {
  readonly req: IncomingMessage;
  readonly websocket: WebSocket;
  readonly querystring: string;
  state: Call;
}

/** Serves one accepted socket. What it throws closes the socket. */
export type SocketHandler = (ctx: SocketContext) => void | Promise<void>;

/** One handler for each row: a missing one does not compile. */
export type Handlers = Record<Exclude<HttpRouteId, InferenceRouteId>, Handler> &
  Record<InferenceRouteId, InferenceHandler>;
