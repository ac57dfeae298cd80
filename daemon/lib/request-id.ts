import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const BYTES = 16;
/** Random bytes of 256 ids. Each call for random bytes costs more than the rest of an id. */
const random = new Uint8Array(BYTES * 256);
let used = random.length;

/**
 * Returns a new request id: a UUID of version 7 (RFC 9562). Ids sort by creation time, to the millisecond, so
 * that the request log appends to its index.
 */
export function newRequestId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += BYTES;
  return v7({ random: random.subarray(used - BYTES, used) });
}
