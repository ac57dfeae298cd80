import { randomUUID } from 'node:crypto';

/**
 * A new request id: a UUID of version 7 (RFC 9562). Ids made one after the other sort one after the other, to the
 * millisecond, so that the request log appends to its index instead of writing all over it.
 */
export function newRequestId(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    const ms = now.toString(16).padStart(12, '0');
    begin = `${ms.slice(0, 8)}-${ms.slice(8)}-7`;
  }
  return begin + randomUUID().slice(15);
}

/** What all ids of one millisecond begin with. */
let lastMs = -1;
let begin = '';
