import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';

/** What inference reads of a request: an HTTP request, or a call from inside the gateway. */
export type CallerRequest = Pick<IncomingMessage, 'headers' | 'url'>;

/** Where an answer goes: an HTTP response, or the memory of who called from inside the gateway. */
export interface CallerResponse extends Writable {
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  removeHeader(name: string): void;
  writeHead(status: number, headers?: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
}
