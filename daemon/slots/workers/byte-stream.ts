import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

export interface ByteStream {
  /** Writes bytes. Resolves when the caller can receive more. Throws after a disconnect. */
  write(bytes: Buffer): Promise<void>;
  /** Ends the response as complete. */
  end(): void;
  /** Aborts the response so that the client detects that it is incomplete. */
  abort(): void;
}

/** Starts a response of bytes of unknown length. */
export function byteStream(response: ServerResponse, type: string, signal: AbortSignal): ByteStream {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' });
  return {
    async write(bytes) {
      signal.throwIfAborted();
      if (!response.write(bytes)) await once(response, 'drain', { signal });
    },
    end: () => {
      response.end();
    },
    abort: () => {
      response.destroy();
    },
  };
}
