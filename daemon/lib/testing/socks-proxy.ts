import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback, portOf } from './listening.ts';

export interface SocksProxyOptions {
  /** Port of the server on this machine to which every name leads. */
  readonly target?: number;
  /** The user name and password that it requires, as `USER:PASSWORD`. */
  readonly login?: string;
  /** Reply code with which each connection is refused (RFC 1928, section 6). */
  readonly reply?: number;
}

export interface SocksProxy {
  readonly address: string;
  /** `HOST:PORT` of each connection. */
  readonly requests: readonly string[];
  close(): Promise<unknown>;
}

const VERSION = 5;
const NO_LOGIN = 0;
const LOGIN = 2;
const NO_METHOD = 0xff;
const NAME = 3;
const REPLY_TAIL = [0, 1, 0, 0, 0, 0, 0, 0];

/** Starts a SOCKS5 proxy (RFC 1928, RFC 1929) that sends every name to one server. */
export async function startSocksProxy(options: SocksProxyOptions = {}): Promise<SocksProxy> {
  const { target = 0, login = null, reply = 0 } = options;
  const requests: string[] = [];
  const sockets = new Set<Socket>();

  async function serve(socket: Socket): Promise<void> {
    const next = () => new Promise<Buffer>((resolve) => socket.once('data', resolve));
    const hello = await next();
    const method = login === null ? NO_LOGIN : LOGIN;
    if (!hello.subarray(2).includes(method)) return void socket.end(Buffer.of(VERSION, NO_METHOD));
    socket.write(Buffer.of(VERSION, method));
    if (login !== null) {
      const sent = await next();
      const split = 2 + (sent[1] ?? 0);
      const isRight = `${sent.subarray(2, split)}:${sent.subarray(split + 1)}` === login;
      socket.write(Buffer.of(1, isRight ? 0 : 1));
      if (!isRight) return void socket.end();
    }
    const request = await next();
    const host = request[3] === NAME ? request.subarray(5, -2).toString() : request.subarray(4, -2).join('.');
    requests.push(`${host}:${request.readUInt16BE(request.length - 2)}`);
    if (reply > 0) return void socket.end(Buffer.of(VERSION, reply, ...REPLY_TAIL));
    const tunnel = connect(target, '127.0.0.1', () => {
      socket.write(Buffer.of(VERSION, 0, ...REPLY_TAIL));
      socket.pipe(tunnel).pipe(socket);
    });
    tunnel.on('error', () => socket.destroy());
    socket.on('close', () => tunnel.destroy());
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    void serve(socket);
  });
  await listenOnLoopback(server);
  return {
    address: `socks5://127.0.0.1:${portOf(server)}`,
    requests,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(done));
    },
  };
}
