import type { IncomingHttpHeaders } from 'node:http';

/** What the guards see of one request or upgrade; taken from Node, before any parsing of ours. */
export interface AuthRequest {
  readonly method: string;
  /** The raw target of the request line. */
  readonly url: string;
  readonly rawHeaders: string[];
  readonly headers: IncomingHttpHeaders;
  /** `socket.remoteAddress`; empty when the socket has gone. */
  readonly peer: string;
  readonly upgrade: boolean;
}
