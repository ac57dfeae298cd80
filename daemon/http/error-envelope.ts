import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorDialect, GatewayError } from '../contract/errors.ts';
import type { Log } from '../lib/log.ts';
import { STATUS_CODES } from '../lib/net/node-http.ts';
import { redactSecretsIn } from '../lib/text/redact.ts';
import { bareRefusalHeaders, refusalHeaders } from './headers.ts';
import { lingerAfterResponse } from './lingering-close.ts';

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

/**
 * Writes the envelope (docs/spec/contract.md#error-envelope). After the headers were sent no error can be
 * reported, so the socket is closed. An unread body is not awaited: the connection closes after the response.
 * A message may repeat what the caller sent, but never one of `secrets`.
 */
export function sendError(
  req: IncomingMessage,
  res: ServerResponse,
  error: GatewayError,
  dialect: ErrorDialect,
  secrets: readonly string[],
): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const body = Buffer.from(JSON.stringify(redactSecretsIn(error.envelope(dialect), secrets)));
  for (const [name, value] of Object.entries(error.headers())) res.setHeader(name, value);
  refusalHeaders(res);
  closeIfUnread(req, res);
  res.writeHead(error.status, { 'content-type': 'application/json', 'content-length': body.length });
  res.end(req.method === 'HEAD' ? undefined : body);
}

/**
 * Closes the connection after a response that precedes the end of the body: the remaining bytes are not a
 * next request.
 */
export function closeIfUnread(req: IncomingMessage, res: ServerResponse): void {
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
