import type { IncomingHttpHeaders } from 'node:http';
import { allHeaders } from '../auth/raw-headers.ts';
import { GatewayError } from '../contract/errors.ts';
import { type RequestTarget, splitTarget } from '../lib/net/request-target.ts';

/** An ambiguous request. Nothing after it is read on its connection. */
export const malformed = (message: string, status = 400): GatewayError =>
  new GatewayError('request.malformed', { message, status, headers: { connection: 'close' } });

/**
 * Checks what Node's parser accepts and RFC 9112 does not: no or several Host headers, an invalid target, an
 * absolute target with another authority than Host. Throws `request.malformed` (400).
 */
export function checkFraming(method: string, url: string, rawHeaders: readonly string[]): RequestTarget {
  const target = splitTarget(url);
  if (!target || (target.path === '*' && method !== 'OPTIONS'))
    throw malformed('The request target is malformed.');
  const hosts = allHeaders(rawHeaders, 'host');
  if (hosts.length !== 1)
    throw malformed(
      hosts.length === 0 ? 'The Host header is missing.' : 'There is more than one Host header.',
    );
  if (
    target.authority !== null &&
    target.authority.toLowerCase() !== (hosts[0] as string).trim().toLowerCase()
  ) {
    throw malformed('The request target and the Host header name different hosts.');
  }
  return target;
}

/**
 * Refuses an upgrade with a body: its bytes would be read as frames of the next protocol. Throws
 * `request.upgrade_body` (400, docs/spec/contract.md#error-codes).
 */
export function checkNoUpgradeBody(headers: IncomingHttpHeaders): void {
  const length = headers['content-length'];
  if (headers['transfer-encoding'] === undefined && (length === undefined || Number(length) === 0)) return;
  throw new GatewayError('request.upgrade_body', { headers: { connection: 'close' } });
}
