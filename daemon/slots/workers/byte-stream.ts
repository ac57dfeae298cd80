import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

export interface ByteStream {
  /** Sends bytes; resolves when the caller can take more and throws once they left. */
  write(bytes: Buffer): Promise<void>;
  /** Ends the answer as complete. */
  end(): void;
  /** Ends it so that nobody takes it for complete. */
  abort(): void;
}

/** Begins an answer of bytes whose length nobody knows yet. */
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
