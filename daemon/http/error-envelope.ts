import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { type ErrorDialect, GatewayError } from '../contract/errors.ts';
import type { Log } from '../lib/log.ts';
import { STATUS_CODES } from '../lib/net/node-http.ts';
import { newRequestId } from '../lib/request-id.ts';
import { redactSecretsIn } from '../lib/text/redact.ts';
import type { Call } from '../routes/handler.ts';
import { dialectOf } from './call.ts';
import { bareRefusalHeaders, baseHeaders, refusalHeaders } from './headers.ts';
import { lingerAfterResponse } from './lingering-close.ts';
import type { FailedRequest } from './record-refusal.ts';

/**
 * Converts any error to one that may be shown. Unknown errors become `internal` and are logged with the
 * request id.
 */
export function asGatewayError(error: unknown, log: Log, requestId: string): GatewayError {
  if (error instanceof GatewayError) {
    if (error.status >= 500 && !error.options.isLogged)
      log.warn({ request: requestId, code: error.code, err: error.cause }, error.message);
    return error;
  }
  log.error({ request: requestId, err: error }, 'unexpected error in a request');
  return new GatewayError('internal');
}

/** What the error middleware needs. */
export interface ErrorDeps {
  log: Log;
  /** Counts each failure, and lists requests without access. */
  refused(failure: GatewayError, request: FailedRequest | null): void;
  /** Values that no response may contain. */
  secrets(): readonly string[];
}

/** The first part of `ctx.state`. */
export type StartedRequest = Pick<Call, 'id' | 'receivedAt'>;

/** Requests that failed before Koa, for the error middleware. */
export type FailedRequests = WeakMap<IncomingMessage, { started: StartedRequest; error: unknown }>;

/** Gives a request its id, and its response the headers of every response. */
export function startRequest({ log }: ErrorDeps, res: ServerResponse): StartedRequest {
  const id = newRequestId();
  // Without a listener, an error while a response is written would end the process.
  res.on('error', (err: Error) => log.error({ request: id, err }, 'writing a response failed'));
  baseHeaders(res, id);
  return { id, receivedAt: performance.now() };
}

/**
 * The outermost middleware: writes the envelope of any error (docs/spec/contract.md#error-envelope). A message may
 * repeat what the caller sent, but never a secret.
 */
export function errors(deps: ErrorDeps, failed: FailedRequests): Middleware {
  return async (ctx, next) => {
    const earlier = failed.get(ctx.req);
    const started = earlier?.started ?? startRequest(deps, ctx.res);
    ctx.state = started;
    try {
      if (earlier !== undefined) throw earlier.error;
      await next();
    } catch (error) {
      const failure = asGatewayError(error, deps.log, started.id);
      deps.refused(failure, { req: ctx.req, ...started });
      ctx.respond = !ctx.headerSent;
      // After the headers no error can be reported, so the response is cut.
      if (!ctx.respond) return void ctx.res.destroy();
      ctx.set({ ...failure.headers(), 'content-type': 'application/json' });
      refusalHeaders(ctx.res);
      ctx.status = failure.status;
      ctx.body = redactSecretsIn(failure.envelope(dialectOf(ctx.originalUrl)), deps.secrets());
    }
    if (!ctx.headerSent) closeIfUnread(ctx.req, ctx.res);
  };
}

/**
 * Closes the connection after a response that precedes the end of the body: the remaining bytes are not a
 * next request.
 */
function closeIfUnread(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete) return;
  res.setHeader('connection', 'close');
  lingerAfterResponse(req);
}

/**
 * Returns a complete refusal as text for a bare socket: status line, headers, envelope without `secrets`. `id`
 * becomes x-request-id.
 */
export function bareRefusal(
  error: GatewayError,
  dialect: ErrorDialect,
  id: string,
  secrets: readonly string[] = [],
): string {
  const body = JSON.stringify(redactSecretsIn(error.envelope(dialect), secrets));
  const headers = {
    ...bareRefusalHeaders(id),
    ...error.headers(),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n');
}
