import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { GatewayError } from '../contract/errors.ts';

/** What inference reads of a request: an HTTP request, or a call from inside the gateway. */
export type CallerRequest = Pick<IncomingMessage, 'headers' | 'url'>;

/** Where an answer goes: an HTTP response, or the memory of who called from inside the gateway. */
export interface CallerResponse extends Writable {
  /** Why it could not tell the answer, when that is the engine's fault and the caller has been told. */
  readonly failure?: GatewayError | null;
  /** Told of the failure that the answer's last event is about to tell. */
  onInBandError?(failure: GatewayError): void;
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  removeHeader(name: string): void;
  writeHead(status: number, headers?: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
}
