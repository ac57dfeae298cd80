import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { Log } from '../kit/log.ts';

/** Turns anything thrown into a refusal that may be shown; unknown errors become `internal` and are logged with the id. */
export function asGatewayError(error: unknown, log: Log, requestId: string): GatewayError {
  if (error instanceof GatewayError) {
    if (error.status >= 500)
      log.warn({ request: requestId, code: error.code, err: error.cause }, error.message);
    return error;
  }
  log.error({ request: requestId, err: error }, 'unexpected error in a request');
  return new GatewayError('internal');
}

/**
 * Writes the envelope (contract section 2). After the head is out nothing can be said any more: the socket is cut.
 * A body that was not read to its end is not waited for: the connection closes after the answer.
 */
export function sendError(
  res: ServerResponse,
  error: GatewayError,
  dialect: 'api' | 'openai',
  options: { head: boolean; unreadBody: boolean },
): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const body = Buffer.from(JSON.stringify(error.envelope(dialect)));
  for (const [name, value] of Object.entries(error.headers())) res.setHeader(name, value);
  if (options.unreadBody) res.setHeader('connection', 'close');
  res.setHeader('cache-control', 'no-store');
  res.writeHead(error.status, { 'content-type': 'application/json', 'content-length': body.length });
  res.end(options.head ? undefined : body);
}
