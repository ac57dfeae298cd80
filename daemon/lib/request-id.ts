import { v7 } from 'uuid';

/**
 * Returns a new request id: a UUID of version 7 (RFC 9562). Ids sort by creation time, so that the request log
 * appends to its index.
 */
export const newRequestId = (): string => v7();
