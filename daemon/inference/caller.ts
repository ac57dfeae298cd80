import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { GatewayError } from '../contract/errors.ts';

/** The part of a request that inference reads: an HTTP request, or an internal call. */
export type CallerRequest = Pick<IncomingMessage, 'headers' | 'url'>;

/** The destination of a response: an HTTP response, or the memory of an internal caller. */
export interface CallerResponse extends Writable {
  /**
   * Why the response could not be translated, if the engine is at fault and the caller has received the
   * error.
   */
  readonly failure?: GatewayError | null;
  /** `performance.now()` of the last bytes for the caller, where they are not those that were written here. */
  readonly lastWriteAt?: number;
  /** Called before the last event of the response reports this failure. */
  onInBandError?(failure: GatewayError): void;
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  removeHeader(name: string): void;
  writeHead(status: number, headers?: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
}
