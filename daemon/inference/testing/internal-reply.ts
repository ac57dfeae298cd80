import type { InternalReply } from '../internal.ts';

/** Returns a complete reply of an internal call. `body` is JSON, or bytes as they are. */
export function internalReply(body: unknown, more: Partial<Omit<InternalReply, 'body'>> = {}): InternalReply {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return {
    ...{ status: 200, headers: {}, inBandError: () => null, abort: () => {}, ...more },
    body: (async function* () {
      yield bytes;
    })(),
  };
}
