import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenOnLoopback, portOf } from '../../lib/testing/listening.ts';

interface Body {
  readonly Image: string;
  readonly Env: readonly string[];
  readonly Labels: Record<string, string>;
}

/** A fake container: a server in this process that requires its key, as an engine does. */
interface Box {
  readonly id: string;
  readonly body: Body;
  server: Server | null;
  exitCode: number;
  ended: PromiseWithResolvers<void>;
}

/** The oldest API version that it supports; the gateway is written for an older one. */
const API = '1.44';
const JSON_TYPE = { 'content-type': 'application/json' };

function frame(text: string): Buffer {
  const head = Buffer.alloc(8);
  head[0] = 1;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/**
 * A fake Docker, because its daemon cannot run everywhere: responds on a unix socket as the API documents, and uses
 * servers of this process as containers. Tests with a real Podman cover the rest.
 */
export class StandInDocker {
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-docker-'));
  readonly socketPath = join(this.#folder, 's');
  readonly #server = createServer((req, res) => void this.#answer(req, res));
  readonly #boxes = new Map<string, Box>();
  /** Method and path of every call, without the version. */
  readonly calls: string[] = [];
  /** Images that need no pull. */
  readonly images = new Set<string>();
  /** Whether the stream of the output ends without any, as with Podman on a busy machine. */
  losesOutput = false;

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(this.socketPath, done));
  }

  /** Stops answering calls, while the containers continue. */
  closeApi(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async remove(): Promise<void> {
    for (const box of this.#boxes.values()) await this.#end(box, 137);
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get boxes(): readonly { id: string; labels: Record<string, string>; runs: boolean }[] {
    return [...this.#boxes.values()].map(({ id, body, server }) => ({
      id,
      labels: body.Labels,
      runs: server !== null,
    }));
  }

  /** Kills all containers as the kernel would. */
  async kill(exitCode = 137): Promise<void> {
    for (const box of this.#boxes.values()) await this.#end(box, exitCode);
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text = await textOf(req);
    const url = new URL(req.url ?? '/', 'http://x');
    const send = (status: number, body?: unknown) =>
      res.writeHead(status, JSON_TYPE).end(body === undefined ? '' : JSON.stringify(body));
    if (url.pathname === '/version') {
      return void send(200, { Version: '29.0.0', ApiVersion: '1.52', MinAPIVersion: API });
    }
    const path = url.pathname.replace(`/v${API}`, '');
    if (path === url.pathname) return void send(400, { message: `client version is too old` });
    this.calls.push(`${req.method} ${path}`);
    if (path === '/info')
      return void send(200, { SecurityOptions: ['name=seccomp,profile=builtin'], Runtimes: {} });
    if (path.startsWith('/images/')) return void this.#image(path, url, res);
    if (path === '/containers/json') return void send(200, this.#list(url));
    if (path === '/containers/create')
      return void send(201, { Id: this.#create(JSON.parse(text)), Warnings: [] });
    const [, , id = '', action = ''] = path.split('/');
    const box = this.#boxes.get(id);
    if (box === undefined) return void send(404, { message: `No such container: ${id}` });
    const isLive = url.searchParams.get('follow') === '1';
    if (action === 'logs' && isLive && this.losesOutput) return void res.writeHead(200).end();
    await this.#act(box, req.method === 'DELETE' ? 'remove' : action, res);
  }

  #image(path: string, url: URL, res: ServerResponse): void {
    const name = url.searchParams.get('fromImage') ?? path.slice('/images/'.length, -'/json'.length);
    if (path !== '/images/create') {
      res.writeHead(this.images.has(name) ? 200 : 404, JSON_TYPE);
      res.end(JSON.stringify(this.images.has(name) ? { Id: 'sha256:0' } : { message: 'No such image' }));
      return;
    }
    this.images.add(name);
    const progress = { status: 'Downloading', id: 'a', progressDetail: { current: 5, total: 10 } };
    res.writeHead(200, JSON_TYPE).end(`${JSON.stringify(progress)}\r\n{"status":"Status: done"}\r\n`);
  }

  #list(url: URL): unknown[] {
    const { label } = JSON.parse(url.searchParams.get('filters') ?? '{}') as { label: string[] };
    const fits = ({ body }: Box) =>
      label.every((one) => body.Labels[one.slice(0, one.indexOf('='))] === one.slice(one.indexOf('=') + 1));
    return [...this.#boxes.values()].filter(fits).map(({ id, body, server }) => ({
      Id: id,
      State: server === null ? 'exited' : 'running',
      Labels: body.Labels,
    }));
  }

  #create(body: Body): string {
    const id = randomBytes(32).toString('hex');
    this.#boxes.set(id, { id, body, server: null, exitCode: 0, ended: Promise.withResolvers() });
    return id;
  }

  async #act(box: Box, action: string, res: ServerResponse): Promise<void> {
    const send = (status: number, body?: unknown) =>
      res.writeHead(status, JSON_TYPE).end(body === undefined ? '' : JSON.stringify(body));
    if (action === 'start') return void send(await this.#start(box));
    if (action === 'json') return void send(200, this.#inspect(box));
    if (action === 'logs') {
      res.writeHead(200).write(frame('engine is up\n'));
      await box.ended.promise;
      return void res.end(frame('error: exit requested\n'));
    }
    if (action === 'wait') {
      await box.ended.promise;
      return void send(200, { StatusCode: box.exitCode });
    }
    if (action === 'kill' && box.server === null) return void send(409, { message: 'is not running' });
    await this.#end(box, action === 'stop' ? 143 : 137);
    if (action === 'remove') this.#boxes.delete(box.id);
    send(204);
  }

  async #start(box: Box): Promise<number> {
    const key = box.body.Env.find((one) => one.startsWith('KEY='))?.slice('KEY='.length);
    const server = createServer((req, res) => {
      const known = req.headers.authorization === `Bearer ${key}`;
      res.writeHead(known ? 200 : 401, JSON_TYPE).end('{"status":"ok"}');
    });
    await listenOnLoopback(server);
    box.server = server;
    return 204;
  }

  #inspect({ id, body, server, exitCode }: Box) {
    const port = server === null ? null : String(portOf(server));
    return {
      Id: id,
      Image: 'sha256:0',
      State: { Running: server !== null, OOMKilled: false, Pid: 0, ExitCode: exitCode, Error: '' },
      Config: { Labels: body.Labels },
      NetworkSettings: {
        Ports: { '8080/tcp': port === null ? null : [{ HostIp: '127.0.0.1', HostPort: port }] },
      },
    };
  }

  async #end(box: Box, exitCode: number): Promise<void> {
    const { server } = box;
    if (server === null) return;
    box.server = null;
    box.exitCode = exitCode;
    server.closeAllConnections();
    await new Promise<void>((done) => server.close(() => done()));
    box.ended.resolve();
  }
}
