import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { listenOnLoopback } from '../../lib/testing/listening.ts';

/** One request as a stand-in for a foreign server heard it, whole. */
export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface StandIn {
  readonly url: string;
  readonly port: number;
  readonly heard: Heard[];
  /** How it answers; may be changed while it runs. */
  play(how: (heard: Heard) => RequestListener): void;
  /** Everything that was heard, as one text. */
  text(): string;
  /** Closes the listener and every connection; `listen` brings it back at the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
}

/** A stand-in for a server that cannot run here: a real listener that keeps what it hears and answers as it is told. */
export async function standIn(first: (heard: Heard) => RequestListener): Promise<StandIn> {
  const heard: Heard[] = [];
  const sockets = new Set<Socket>();
  let how = first;
  let port = 0;
  let server: Server;
  const up = async () => {
    server = createServer(async (req, res) => {
      const parts: Buffer[] = [];
      req.on('error', () => {});
      try {
        for await (const part of req) parts.push(part as Buffer);
      } catch {
        return;
      }
      const { method = '', url = '', headers } = req;
      const one = { method, url, headers, body: Buffer.concat(parts).toString('utf8') };
      heard.push(one);
      how(one)(req, res);
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    });
    port = await listenOnLoopback(server, port);
  };
  const down = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    });
  await up();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    heard,
    play: (next) => {
      how = next;
    },
    text: () => JSON.stringify(heard),
    down,
    up,
  };
}

/** Answers JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_req, res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify(body));
  };

/** A provider that lists `ids` and answers each chat with what model it was asked for. */
export const provider =
  (...ids: string[]) =>
  ({ url, body }: Heard): RequestListener => {
    if (url.split('?')[0]?.endsWith('/models')) {
      return json(200, {
        object: 'list',
        data: ids.map((id) => ({ id, object: 'model', created: 1, owned_by: 'them' })),
      });
    }
    const { model } = JSON.parse(body) as { model: string };
    const message = { role: 'assistant', content: `${model} from afar` };
    return json(200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 },
    });
  };
