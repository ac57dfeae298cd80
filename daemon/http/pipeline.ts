import type { Context } from 'koa';
import type { ZodType } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { REQUEST_SCHEMAS } from '../contract/schemas.ts';
import { newRequestId } from '../lib/request-id.ts';
import type { Call, Handler, Handlers, HttpRouteId } from '../routes/handler.ts';
import { dialectOf } from './call.ts';
import { asGatewayError, closeIfUnread, sendError } from './error-envelope.ts';
import { type Admitted, admit, type GuardDeps, guard, guardOrigin } from './guards.ts';
import { ALL_METHODS, baseHeaders, corsHeaders, kindHeaders } from './headers.ts';
import { checkDeclared, readApiBody } from './read-body.ts';
import { checkExpectation } from './send-continue.ts';

export interface PipelineDeps extends GuardDeps {
  handlers: Handlers;
  /** Values that no response may contain. */
  secrets(): readonly string[];
}

/**
 * The life cycle of a request: request id → framing → Host → Origin → tier → class → limiter → body →
 * handler. One catch writes the envelope of any error.
 */
export function createPipeline(deps: PipelineDeps): (ctx: Context) => Promise<void> {
  return async (ctx) => {
    const id = newRequestId();
    const receivedAt = performance.now();
    baseHeaders(ctx.res, id);
    try {
      const admitted = enter(deps, ctx);
      if (admitted.auth.method === 'OPTIONS') return preflight(deps, ctx, admitted.auth);
      const guarded = guard(deps, admitted, id, receivedAt);
      const call = guarded instanceof Promise ? await guarded : guarded;
      kindHeaders(ctx.res, call.route.kind);
      const read = readBody(ctx, call);
      const body = read instanceof Promise ? await read : read;
      const answer = await handlerOf(deps, call)(ctx, call, body);
      if (answer !== undefined) sendJson(ctx, answer);
    } catch (error) {
      const failure = asGatewayError(error, deps.log, id);
      deps.refused(failure.code);
      sendError(ctx.req, ctx.res, failure, dialectOf(ctx.req.url ?? ''), deps.secrets());
    }
  };
}

/** Checks expectation, framing and Host. From here on, a page of a listed origin may read the response. */
function enter(deps: PipelineDeps, { req, res }: Context): Admitted {
  checkExpectation(req);
  const admitted = admit(deps, req, false);
  const origin = deps.auth.corsOrigin(admitted.auth);
  if (origin !== null) corsHeaders(res, origin, admitted.auth.method === 'OPTIONS');
  return admitted;
}

function handlerOf({ handlers }: PipelineDeps, { route }: Call): Handler {
  const handler: Handler | undefined = handlers[route.id as HttpRouteId];
  if (!handler) throw upgradeRequired();
  return handler;
}

/** Rows without a handler are WebSocket routes that were requested without an upgrade. */
const upgradeRequired = () =>
  new GatewayError('request.malformed', {
    status: 426,
    message: 'This route requires a WebSocket upgrade.',
    headers: { upgrade: 'websocket', connection: 'Upgrade' },
  });

/** Reads the body that the route declares. Inference and audio handlers read their own. */
function readBody(ctx: Context, call: Call): unknown {
  const { body: kind, method } = call.route;
  if (kind === 'auth' || kind === 'api') {
    const schema: ZodType | undefined = REQUEST_SCHEMAS[call.route.id];
    return readApiBody(ctx, kind, schema);
  }
  if (method !== 'GET') checkDeclared(ctx.req, kind);
  return undefined;
}

/** `OPTIONS` never runs a handler and ignores the tier: 204 with a constant list; a foreign origin gets 403. */
function preflight(deps: PipelineDeps, ctx: Context, request: Call['auth']): void {
  guardOrigin(deps, { ...request, method: 'POST' });
  closeIfUnread(ctx.req, ctx.res);
  ctx.res.writeHead(204, { allow: ALL_METHODS });
  ctx.res.end();
}

function sendJson(ctx: Context, answer: unknown): void {
  const body = Buffer.from(JSON.stringify(answer));
  closeIfUnread(ctx.req, ctx.res);
  ctx.res.writeHead(ctx.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
  });
  ctx.res.end(ctx.req.method === 'HEAD' ? undefined : body);
}
