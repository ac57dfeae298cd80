import type { IncomingHttpHeaders } from 'node:http';

/** Every answer of a gateway carries an id of this form, a UUID of version 7. */
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether an answer carries what every answer of a gateway does. */
export const isGatewayResponse = ({ 'x-request-id': id }: IncomingHttpHeaders): boolean =>
  typeof id === 'string' && REQUEST_ID.test(id);

/** Whether a text is the answer of a gateway's `/api/health`, for one behind a proxy that rewrites headers. */
export function isHealth(text: string): boolean {
  try {
    const { status, name, version } = JSON.parse(text) as Record<string, unknown>;
    return status === 'ok' && typeof name === 'string' && typeof version === 'string';
  } catch {
    return false;
  }
}
