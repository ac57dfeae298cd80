import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { asRefusal } from './refusal.ts';

export interface EventStream {
  /** Sends one event. Resolves when the caller can receive more. */
  send(value: object): Promise<void>;
  comment(text: string): Promise<void>;
  /** Ends the stream as complete. */
  done(): void;
  /** Ends the stream without `[DONE]`, for streams whose last event marks the end. */
  end(): void;
  /** Ends the stream with an error event and without `[DONE]`. */
  fail(error: unknown): void;
}

/**
 * Starts a stream of server-sent events and sends its headers at once. `send` waits while the caller reads
 * slowly and throws after a disconnect.
 */
export function eventStream(response: ServerResponse, signal: AbortSignal): EventStream {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  const write = async (text: string): Promise<void> => {
    signal.throwIfAborted();
    if (!response.write(text)) await once(response, 'drain', { signal });
  };
  return {
    send: (value) => write(`data: ${JSON.stringify(value)}\n\n`),
    comment: (text) => write(`: ${text}\n\n`),
    done: () => {
      response.end('data: [DONE]\n\n');
    },
    end: () => {
      response.end();
    },
    fail: (error) => {
      if (signal.aborted) return;
      response.end(`data: ${JSON.stringify(asRefusal(error).envelope())}\n\n`);
    },
  };
}
