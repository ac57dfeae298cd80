import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { portOf } from '../../lib/testing/listening.ts';

/**
 * What happened to one request at an upstream. `waiting`: received, no byte of an answer. `streaming`: the answer has
 * begun. `reset`: its connection was destroyed by the upstream, or closed by the gateway before the answer ended.
 */
export type Fate = 'waiting' | 'streaming' | 'answered' | 'busy' | 'broken' | 'reset';

/** One request that was received with its whole body. */
export interface Receipt {
  readonly upstream: string;
  readonly user: string;
  fate: Fate;
}

interface Held {
  readonly receipt: Receipt;
  readonly stream: boolean;
  readonly res: ServerResponse;
}

let lastHost = 0;

/**
 * Returns an unused loopback address, so that the port of a server that stops listening is not taken by another
 * server of the machine.
 */
function ownHost(): string {
  lastHost++;
  return `127.${1 + (process.pid % 250)}.${1 + (Math.floor(lastHost / 250) % 250)}.${1 + (lastHost % 250)}`;
}

const JSON_HEAD = { 'content-type': 'application/json' };
const chunk = (content: string, finish: string | null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

/**
 * An upstream whose faults a test decides. It never answers on its own: `finish` ends the answers in progress. A suspended
 * one holds everything that it receives until it is resumed, or loses it when it is killed.
 */
export class ScriptedUpstream {
  readonly name: string;
  readonly host = ownHost();
  port = 0;
  /** Answers new requests with 503. */
  isBusy = false;
  /** Breaks new answers off in the middle. */
  breaks = false;
  isSuspended = false;
  #server: Server | null = null;
  readonly #receipts: Receipt[];
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<Held>();
  /** Answers to the model list that wait until the upstream is resumed. */
  readonly #heldLists = new Set<ServerResponse>();

  constructor(name: string, receipts: Receipt[]) {
    this.name = name;
    this.#receipts = receipts;
  }

  get url(): string {
    return `http://${this.host}:${this.port}/v1`;
  }

  get isListening(): boolean {
    return this.#server !== null;
  }

  /** Number of requests that have no complete answer. */
  get held(): number {
    return this.#waiting.size;
  }

  async start(): Promise<void> {
    if (this.#server !== null) return;
    const server = createServer(async (req, res) => {
      let body = '';
      try {
        for await (const part of req) body += String(part);
      } catch {
        return;
      }
      if (req.method === 'GET') this.#list(res);
      else this.#receive(JSON.parse(body) as { user: string; stream?: boolean }, res);
    });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server = server;
    server.listen(this.port, this.host);
    await once(server, 'listening');
    this.port = portOf(server);
  }

  /** The process dies: all connections break. It listens again at once. */
  kill(): void {
    for (const { receipt } of this.#waiting) receipt.fate = 'reset';
    this.#waiting.clear();
    this.#heldLists.clear();
    for (const socket of this.#sockets) socket.destroy();
    this.isSuspended = false;
  }

  /** The process dies and stays away: connections are refused until `start`. */
  async refuse(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const closed = new Promise<void>((done) => server.close(() => done()));
    this.kill();
    await closed;
  }

  suspend(): void {
    this.isSuspended = true;
  }

  resume(): void {
    this.isSuspended = false;
    for (const res of this.#heldLists) sendList(res);
    this.#heldLists.clear();
    for (const held of [...this.#waiting]) if (held.receipt.fate === 'waiting') this.#begin(held);
  }

  /** Ends all answers in progress, unless it is suspended. */
  finish(): void {
    if (this.isSuspended) return;
    for (const { receipt, stream, res } of [...this.#waiting]) {
      const content = `${this.name} served ${receipt.user}`;
      if (stream) res.end(`${chunk(content, 'stop')}data: [DONE]\n\n`);
      else {
        const message = { role: 'assistant', content };
        res.writeHead(200, JSON_HEAD);
        res.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
      }
      receipt.fate = 'answered';
    }
    this.#waiting.clear();
  }

  #list(res: ServerResponse): void {
    if (!this.isSuspended) {
      sendList(res);
      return;
    }
    this.#heldLists.add(res);
    res.once('close', () => this.#heldLists.delete(res));
  }

  #receive({ user, stream = false }: { user: string; stream?: boolean }, res: ServerResponse): void {
    const receipt: Receipt = { upstream: this.name, user, fate: 'waiting' };
    this.#receipts.push(receipt);
    if (res.destroyed || res.socket?.destroyed !== false) {
      receipt.fate = 'reset';
      return;
    }
    const held = { receipt, stream, res };
    this.#waiting.add(held);
    res.on('error', () => {});
    res.once('close', () => {
      if (this.#waiting.delete(held)) receipt.fate = 'reset';
    });
    if (!this.isSuspended) this.#begin(held);
  }

  #begin(held: Held): void {
    const { receipt, stream, res } = held;
    if (this.isBusy) {
      this.#waiting.delete(held);
      receipt.fate = 'busy';
      res.writeHead(503, { ...JSON_HEAD, 'retry-after': '1' });
      res.end(JSON.stringify({ error: { message: 'full', type: 'server_error', code: 'overloaded' } }));
    } else if (this.breaks) {
      this.#waiting.delete(held);
      receipt.fate = 'broken';
      res.writeHead(
        200,
        stream ? { 'content-type': 'text/event-stream' } : { ...JSON_HEAD, 'content-length': 99 },
      );
      res.write(stream ? chunk('half', null) : '{"choices"', () => res.destroy());
    } else if (stream) {
      receipt.fate = 'streaming';
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(chunk('begun ', null));
    }
  }
}

function sendList(res: ServerResponse): void {
  res.writeHead(200, JSON_HEAD);
  res.end('{"object":"list","data":[{"id":"m","object":"model"}]}');
}
