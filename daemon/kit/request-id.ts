import { randomUUID } from 'node:crypto';

/**
 * A new request id: a UUID of version 7 (RFC 9562). Ids made one after the other sort one after the other, to the
 * millisecond, so that the request log appends to its index instead of writing all over it.
 */
export function newRequestId(): string {
  const ms = Date.now().toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${randomUUID().slice(15)}`;
}
