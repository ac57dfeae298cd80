import { connect } from 'node:net';
import { chatBody } from './bodies.ts';
import type { Target } from './targets.ts';

/** Callbacks for the tokens of a stream. */
export interface StreamCallbacks {
  /** The first token arrived `ms` milliseconds after the request. */
  first(ms: number): void;
  /** A further token arrived `us` microseconds after the model server wrote it. */
  late(us: number): void;
  /** The stream ended without `[DONE]`. */
  broken(): void;
}

export interface StreamLoad {
  readonly tokens: number;
  readonly everyUs: number;
}

/** The bytes of one request for a paced stream from `model`. */
export function streamRequest(target: Target, { tokens, everyUs }: StreamLoad, model: string): string {
  const body = chatBody({ model, bytes: 200, turns: 1, stream: { tokens, everyUs } });
  const headers = {
    Host: target.url.host,
    'Content-Type': 'application/json',
    Accept: 'text/event-stream',
    ...target.headers,
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Milliseconds after which a stream counts as broken. */
const limitOf = ({ tokens, everyUs }: StreamLoad): number => 5_000 + (tokens * everyUs) / 250;

/** Finds the tokens in a stream. Each has a timestamp of the model server, which uses the clock of this machine. */
class TokenReader {
  readonly #callbacks: StreamCallbacks;
  readonly #since: bigint;
  #tail = '';
  #first = true;

  constructor(callbacks: StreamCallbacks, since: bigint) {
    this.#callbacks = callbacks;
    this.#since = since;
  }

  /** Adds the next bytes. Returns true when the answer is complete. */
  push(bytes: Buffer): boolean {
    const now = process.hrtime.bigint();
    const text = this.#tail + bytes.toString('latin1');
    let last = 0;
    for (let at = text.indexOf('"ts":'); at >= 0; at = text.indexOf('"ts":', at + 1)) {
      const end = text.indexOf('}', at);
      if (end < 0) break;
      last = end;
      if (this.#first) this.#callbacks.first(Number(now - this.#since) / 1e6);
      else this.#callbacks.late((Number(now) - Number(text.slice(at + 5, end))) / 1e3);
      this.#first = false;
    }
    this.#tail = text.slice(Math.max(last, text.length - 400));
    return this.#tail.endsWith('0\r\n\r\n');
  }

  get complete(): boolean {
    return this.#tail.includes('[DONE]');
  }
}

/** Opens one stream on a plain socket. Resolves after its last byte. */
export function oneStream(
  target: Target,
  load: StreamLoad,
  model: string,
  callbacks: StreamCallbacks,
): Promise<void> {
  const text = streamRequest(target, load, model);
  return new Promise((resolve) => {
    let reader = new TokenReader(callbacks, process.hrtime.bigint());
    const socket = connect({ host: target.url.hostname, port: Number(target.url.port), noDelay: true });
    const end = (): void => {
      clearTimeout(limit);
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.destroy();
      if (!reader.complete) callbacks.broken();
      resolve();
    };
    const limit = setTimeout(end, limitOf(load));
    socket.on('connect', () => {
      reader = new TokenReader(callbacks, process.hrtime.bigint());
      socket.write(text);
    });
    socket.on('data', (bytes) => {
      if (reader.push(bytes)) end();
    });
    socket.on('error', end).on('close', end);
  });
}
