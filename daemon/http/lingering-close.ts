import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How long a refused sender may take to read the refusal, and how much of what it still sends is thrown away. */
interface DrainLimits {
  readonly ms: number;
  readonly bytes: number;
}
const DEFAULT_LIMITS: DrainLimits = { ms: 2_000, bytes: 1 << 20 };
/** How long a sender whose body was asked for may go on once nobody wants it any more (ms); nginx waits as long. */
const BODY_DRAIN_MS = 30_000;

const LIMITS = new WeakMap<IncomingMessage, DrainLimits>();
/** Requests whose bodies nobody reads any more. */
const discarded = new WeakSet<IncomingMessage>();
/** The latest request of a connection whose body was asked for: all that come on it share what is done at its end. */
const latest = new WeakMap<Socket, IncomingMessage>();

/**
 * Lets the sender of a body that was wanted send up to `bytes` of it although it is answered before its end. Many clients
 * read nothing before they have written all: cut short, they report a broken pipe instead of what they were told.
 */
export function allowBodyDrain(req: IncomingMessage, bytes: number): void {
  LIMITS.set(req, { ms: BODY_DRAIN_MS, bytes });
  const { socket } = req;
  if (!latest.has(socket)) deferClose(socket);
  latest.set(socket, req);
}

/** Node calls `destroySoon` once an answer is out that is the last one of its connection. */
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

/** Takes that back: what this sender sends was never to be taken. */
export function forbidDrain(req: IncomingMessage): void {
  LIMITS.delete(req);
}

/**
 * Makes the connection of a request whose body is not wanted end so that the answer arrives. Closing at once would
 * reset the connection under a sender that is still writing, which then sees a broken pipe and never the refusal.
 * Our side ends with the answer; at most 1 MiB more is taken and thrown away; after 2 s the socket is cut. A body that was
 * asked for has the limits of `letFinish`.
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
  // Node calls this once the answer is out; its own version closes a socket with bytes still unread.
  socket.destroySoon = () => halfClose(socket, undefined, ms);
}

/** Takes what still comes of a body that nobody wants any more, so that its sender gets to the answer; cuts who sends more than it may. */
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

/** Ends our side, with `text` as the last bytes, and cuts the socket if the peer keeps its side open. */
export function halfClose(socket: Duplex, text?: string, ms = DEFAULT_LIMITS.ms): void {
  const cut = setTimeout(() => socket.destroy(), ms);
  cut.unref();
  socket.once('close', () => clearTimeout(cut));
  socket.end(text);
}
