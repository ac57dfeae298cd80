import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenOnLoopback, portOf } from './listening.ts';

export interface ProxyOptions {
  /** Port of the server on this machine to which every name leads. */
  readonly target?: number;
  /** Status with which everything is refused. */
  readonly status?: number;
}

export interface HttpProxy {
  readonly address: string;
  /** Method, target and `proxy-authorization` of each request. */
  readonly requests: readonly string[];
  /** Returns how many plain requests came on a connection that had served another one. */
  reused(): number;
  close(): Promise<unknown>;
}

/** Starts an HTTP proxy that sends every name to one server: plain requests in absolute form, TLS through tunnels. */
export async function startHttpProxy({ target = 0, status = 0 }: ProxyOptions = {}): Promise<HttpProxy> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const used = new Set<Socket>();
  let reused = 0;
  const record = ({ method, url, headers }: IncomingMessage) =>
    requests.push(`${method} ${url} ${headers['proxy-authorization'] ?? '-'}`);
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    record(req);
    if (used.has(req.socket)) reused++;
    used.add(req.socket);
    if (status > 0) {
      res.writeHead(status, { 'content-type': 'text/html' }).end('<html>no</html>');
      return;
    }
    const { pathname, search } = new URL(req.url ?? '');
    const { method, headers } = req;
    const sent = httpRequest({ port: target, path: pathname + search, method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(res);
    });
    sent.on('error', () => res.destroy());
    req.pipe(sent);
  });
  server.on('connect', (req, socket: Socket) => {
    record(req);
    if (status > 0) {
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const tunnel = connect(target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(tunnel).pipe(socket);
    });
    tunnel.on('error', () => socket.destroy());
    socket.on('error', () => tunnel.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await listenOnLoopback(server);
  return {
    address: `http://127.0.0.1:${portOf(server)}`,
    requests,
    reused: () => reused,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(done));
    },
  };
}
