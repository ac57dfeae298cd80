import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** How long a refused sender may take to read the refusal, and how much of what it still sends is thrown away. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 1 << 20;

/**
 * Makes the connection of a request whose body is not wanted end so that the answer arrives. Closing at once would
 * reset the connection under a sender that is still writing, which then sees a broken pipe and never the refusal.
 * Our side ends with the answer; at most 1 MiB more is taken and thrown away; after 2 s the socket is cut.
 */
export function lingerAfter(req: IncomingMessage): void {
  const { socket } = req;
  let taken = 0;
  req.on('data', (chunk: Buffer) => {
    taken += chunk.length;
    if (taken > LINGER_BYTES) req.pause();
  });
  req.on('error', () => {});
  req.resume();
  // Node calls this once the answer is out; its own version closes a socket with bytes still unread.
  socket.destroySoon = () => endGently(socket);
}

/** Ends our side, with `text` as the last bytes, and cuts the socket if the peer keeps its side open. */
export function endGently(socket: Duplex, text?: string): void {
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  cut.unref();
  socket.once('close', () => clearTimeout(cut));
  socket.end(text);
}
