import type { IncomingHttpHeaders } from 'node:http';

/** One request or upgrade as the guards see it, before any parsing by the gateway. */
export interface AuthRequest {
  readonly method: string;
  /** The raw target of the request line. */
  readonly url: string;
  readonly rawHeaders: string[];
  readonly headers: IncomingHttpHeaders;
  /** `socket.remoteAddress`; empty when the socket is closed. */
  readonly peer: string;
  readonly upgrade: boolean;
}
