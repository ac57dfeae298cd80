import type { IncomingHttpHeaders } from 'node:http';

/** Every response of a gateway carries an id of this form, a UUID of version 7. */
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns true if the response carries the request id header of a gateway. */
export const isGatewayResponse = ({ 'x-request-id': id }: IncomingHttpHeaders): boolean =>
  typeof id === 'string' && REQUEST_ID.test(id);

/**
 * Returns true if a text is the response of `/api/health`, for a gateway behind a proxy that rewrites
 * headers.
 */
export function isHealth(text: string): boolean {
  try {
    const { status, name, version } = JSON.parse(text) as Record<string, unknown>;
    return status === 'ok' && typeof name === 'string' && typeof version === 'string';
  } catch {
    return false;
  }
}
