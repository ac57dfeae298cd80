import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Limits for the rest of a refused body: time to read the refusal, and bytes that are discarded. */
interface DrainLimits {
  readonly ms: number;
  readonly bytes: number;
}
const DEFAULT_LIMITS: DrainLimits = { ms: 2_000, bytes: 1 << 20 };
/**
 * How long the sender of an accepted body may continue after it is no longer needed (ms). The same value as
 * in nginx.
 */
const BODY_DRAIN_MS = 30_000;

const LIMITS = new WeakMap<IncomingMessage, DrainLimits>();
/** Requests whose bodies are discarded. */
const discarded = new WeakSet<IncomingMessage>();
/**
 * The latest request of a connection with an accepted body. All requests of a connection share its deferred
 * close.
 */
const latest = new WeakMap<Socket, IncomingMessage>();

/**
 * Lets the sender of an accepted body send up to `bytes` of it although the response comes earlier. Many
 * clients read nothing before they have written everything; when cut off they report a broken pipe instead of
 * the response.
 */
export function allowBodyDrain(req: IncomingMessage, bytes: number): void {
  LIMITS.set(req, { ms: BODY_DRAIN_MS, bytes });
  const { socket } = req;
  if (!latest.has(socket)) deferClose(socket);
  latest.set(socket, req);
}

/** Node calls `destroySoon` after the last response of a connection. */
function deferClose(socket: Socket): void {
  const usual = socket.destroySoon;
  socket.destroySoon = () => {
    socket.destroySoon = usual;
    const req = latest.get(socket);
    if (req === undefined || req.complete || !LIMITS.has(req)) return socket.destroySoon();
    discardRest(req);
    halfClose(socket, undefined, BODY_DRAIN_MS);
  };
}

/** Reverts `allowBodyDrain` for a body that is not acceptable. */
export function forbidDrain(req: IncomingMessage): void {
  LIMITS.delete(req);
}

/**
 * Closes the connection of a refused body so that the response arrives. An immediate close would reset the
 * connection while the sender is still writing; it would see a broken pipe and not the refusal. The write
 * side ends with the response; at most 1 MiB more is discarded; the socket is closed after 2 s. An accepted
 * body has the limits of `allowBodyDrain`.
 */
export function lingerAfterResponse(req: IncomingMessage): void {
  const { socket } = req;
  const { ms, bytes } = LIMITS.get(req) ?? DEFAULT_LIMITS;
  let taken = 0;
  req.on('data', (chunk: Buffer) => {
    taken += chunk.length;
    if (taken > bytes) req.pause();
  });
  req.on('error', () => {});
  req.resume();
  // Node calls this after the response. Its own version closes a socket with unread bytes.
  socket.destroySoon = () => halfClose(socket, undefined, ms);
}

/**
 * Discards the rest of a body that is no longer needed, so that its sender gets the response. Closes the
 * socket when it exceeds its limit.
 */
export function discardRest(req: IncomingMessage): void {
  if (!discarded.has(req)) {
    discarded.add(req);
    const { bytes } = LIMITS.get(req) ?? DEFAULT_LIMITS;
    let taken = 0;
    req.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      if (taken > bytes) req.socket.destroy();
    });
    req.on('error', () => {});
  }
  req.resume();
}

/**
 * Ends the write side, with `text` as the last bytes, and closes the socket if the peer keeps its side open.
 */
export function halfClose(socket: Duplex, text?: string, ms = DEFAULT_LIMITS.ms): void {
  const cut = setTimeout(() => socket.destroy(), ms);
  cut.unref();
  socket.once('close', () => clearTimeout(cut));
  socket.end(text);
}
