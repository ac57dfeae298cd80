import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { WebSocket } from 'ws';
import { isUnreachable, UnreachableAddress } from './addresses.ts';
import { guardedLookup } from './outbound.ts';

export interface SocketRequest {
  /** `http://127.0.0.1:1234` or `https://…`: scheme, host and port only. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit for opening the socket, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Maximum bytes of one message. A longer one closes the socket. */
  readonly maxMessageBytes: number;
}

export interface SocketEvents {
  opened?(): void;
  text(message: string): void;
  /** Without it, binary messages are ignored. */
  binary?(message: Buffer): void;
  /** Called once, however it ended. Null for a close by the peer. */
  ended(error: Error | null): void;
}

export interface OutboundSocket {
  /** Closes the connection at once. No event is emitted afterwards. */
  terminate(): void;
}

/**
 * Opens a WebSocket to an engine by the same rules as `Outbound`: no redirects, no proxies, verified TLS, no
 * forbidden address. Never throws.
 */
export function openSocket(request: SocketRequest, events: SocketEvents): OutboundSocket {
  const address = new URL(request.path, request.origin);
  if (isUnreachable(address.hostname)) {
    queueMicrotask(() => events.ended(new UnreachableAddress()));
    return { terminate: () => {} };
  }
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(address, {
    headers: { ...request.headers },
    followRedirects: false,
    handshakeTimeout: request.connectTimeoutMs,
    maxPayload: request.maxMessageBytes,
    perMessageDeflate: false,
    lookup: guardedLookup(systemLookup as LookupFunction),
  });
  let failure: Error | null = null;
  let terminate = false;
  socket.on('error', (error) => {
    failure ??= error;
  });
  socket.on('open', () => {
    if (!terminate) events.opened?.();
  });
  socket.on('message', (data, binary) => {
    if (terminate) return;
    if (!binary) events.text(String(data));
    else if (Buffer.isBuffer(data)) events.binary?.(data);
  });
  socket.on('close', () => {
    if (!terminate) events.ended(failure);
  });
  return {
    terminate: () => {
      terminate = true;
      socket.terminate();
    },
  };
}
