import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { listenOnLoopback } from '../../lib/testing/listening.ts';

/** One complete request that a stand-in received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface StandIn {
  readonly url: string;
  readonly port: number;
  readonly requests: ReceivedRequest[];
  /** Sets how requests are answered; may be changed at any time. */
  respondWith(respond: (request: ReceivedRequest) => RequestListener): void;
  /** All received requests as one text. */
  text(): string;
  /** Closes the listener and every connection. `start` listens on the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts a stand-in for a server that cannot run here: a real listener that records requests and answers as configured. */
export async function standIn(initial: (request: ReceivedRequest) => RequestListener): Promise<StandIn> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let respond = initial;
  let port = 0;
  let server: Server;
  const start = async () => {
    server = createServer(async (req, res) => {
      const parts: Buffer[] = [];
      req.on('error', () => {});
      try {
        for await (const part of req) parts.push(part as Buffer);
      } catch {
        return;
      }
      const { method = '', url = '', headers } = req;
      const request = { method, url, headers, body: Buffer.concat(parts).toString('utf8') };
      requests.push(request);
      respond(request)(req, res);
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    });
    port = await listenOnLoopback(server, port);
  };
  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    });
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    respondWith: (next) => {
      respond = next;
    },
    text: () => JSON.stringify(requests),
    stop,
    start,
  };
}

/** Returns a listener that answers with JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_req, res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify(body));
  };

/** A provider that lists `ids` and answers each chat with the name of the requested model. */
export const provider =
  (...ids: string[]) =>
  ({ url, body }: ReceivedRequest): RequestListener => {
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
