import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listenOnLoopback } from '../../lib/testing/listening.ts';

/** A repository of the fake hub with one commit. */
export interface FakeRepo {
  readonly files: Readonly<Record<string, Buffer>>;
  readonly gated?: boolean;
  readonly licence?: string;
  /** Digests that the hub lists instead of the real ones. */
  readonly promises?: Readonly<Record<string, string>>;
  /** Sizes that the hub lists instead of the real ones. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** Names that the hub lists instead of the real ones. */
  readonly listsAs?: Readonly<Record<string, string>>;
}

/** Deviations of the next file responses from a healthy hub. */
export interface Fault {
  /** Cuts the connection after this many bytes of each response. */
  cutAfter?: number;
  /** Delay between pieces of 16 KiB in milliseconds. */
  slowMs?: number;
  /** Responds 200 with the whole file to every range. */
  ignoresRanges?: boolean;
  /** The entity tag of the content. */
  etag?: string;
  /** Content that differs from the listed digest. */
  bytes?: Buffer;
  /** Declares the response as compressed. */
  gzip?: boolean;
  /** Never ends and has no length. */
  endless?: boolean;
  status?: number;
  headers?: Record<string, string>;
  /** Redirect target of files instead of its own storage. */
  redirect?: string;
  /** A web page with status 200 instead of the file. */
  page?: { readonly type: string; readonly hasLength: boolean };
  /** Responds to a range with the whole range in a response of status 200, or from this many bytes earlier. */
  shifted?: { readonly status: 200 | 206; readonly by: number };
}

export interface FakeHub {
  readonly url: string;
  readonly port: number;
  /** Received requests: method, target and relevant headers. */
  readonly requests: {
    url: string;
    authorization: string | undefined;
    range: string | undefined;
    ifRange: string | undefined;
  }[];
  fault: Fault;
  /** Faults of the next responses of the storage, one each. They replace `fault`. */
  readonly queue: Fault[];
  repos: Record<string, FakeRepo>;
  /** Total bytes of content sent. */
  sent(): number;
  commit(repo: string): string;
  close(): Promise<void>;
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const blob = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
const PIECE = 16 * 1024;
const PAGE = 50;
const TOKEN = 'Bearer hf_goodtoken';
const isLarge = (path: string, bytes: Buffer): boolean => bytes.length > 4096 || /\.(gguf|onnx)$/.test(path);

/**
 * Starts a fake model hub with the same paths, headers and refusals: files are redirected to a storage with
 * ranges and entity tags. Faults can be injected.
 */
export async function startHub(repos: Record<string, FakeRepo> = {}): Promise<FakeHub> {
  const sockets = new Set<Socket>();
  let sent = 0;
  const hub = { requests: [], fault: {}, queue: [], repos } as unknown as {
    -readonly [K in keyof FakeHub]: FakeHub[K];
  };
  const commit = (repo: string) => createHash('sha1').update(repo).digest('hex');
  const server: Server = createServer((req, res) => {
    const { authorization, range, 'if-range': ifRange } = req.headers;
    hub.requests.push({ url: req.url ?? '', authorization, range, ifRange: ifRange as string | undefined });
    answer(req, res).catch(() => res.destroy());
  });
  server.on('connection', (socket) => {
    socket.setMaxListeners(0);
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });

  function refuse(res: ServerResponse, status: number, code: string, message: string): void {
    res.writeHead(status, {
      'content-type': 'application/json',
      'x-error-code': code,
      'x-error-message': message,
    });
    res.end(JSON.stringify({ error: message }));
  }
  const json = (res: ServerResponse, body: unknown, headers: Record<string, string> = {}) => {
    res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...headers });
    res.end(JSON.stringify(body));
  };

  function entries(name: string, repo: FakeRepo) {
    return Object.entries(repo.files).map(([path, bytes]) => {
      const listedPath = repo.listsAs?.[path] ?? path;
      const size = repo.sizes?.[path] ?? bytes.length;
      const oid = repo.promises?.[path] ?? sha256(bytes);
      const entry = {
        type: 'file',
        path: listedPath,
        size,
        oid: repo.promises?.[path] ?? blob(bytes),
      };
      return isLarge(path, bytes)
        ? { ...entry, oid: blob(Buffer.from(name)), lfs: { oid, size, pointerSize: 134 } }
        : entry;
    });
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://hub');
    const path = decodeURIComponent(url.pathname);
    if (path === '/api/models') return search(url, res);
    const stored = /^\/storage\/([0-9a-f]{64})$/.exec(path);
    if (stored) return storage(stored[1] as string, req, res);
    const [, name = '', what = '', rest = ''] =
      /^(?:\/api\/models)?\/([^/]+\/[^/]+)\/(revision|tree|resolve)\/(.*)$/.exec(path) ?? [];
    const repo = hub.repos[name];
    const known = req.headers.authorization === TOKEN;
    if (repo === undefined) {
      return refuse(res, req.headers.authorization ? 404 : 401, 'RepoNotFound', 'Repository not found');
    }
    const [revision, ...file] = rest.split('/');
    if (!['HEAD', 'main', commit(name)].includes(revision ?? ''))
      return refuse(res, 404, 'RevisionNotFound', 'Invalid rev id');
    if (what === 'revision') {
      const { gated = false, licence } = repo;
      const tags = ['gguf', ...(licence ? [`license:${licence}`] : [])];
      const card = licence ? { license: licence } : {};
      const info = {
        private: false,
        gated: gated && 'auto',
        downloads: 7,
        likes: 3,
        sha: commit(name),
        tags,
      };
      return json(res, {
        _id: name,
        id: name,
        ...info,
        cardData: card,
        lastModified: '2030-01-01T00:00:00.000Z',
      });
    }
    if (what === 'tree') {
      const at = Number(url.searchParams.get('cursor') ?? 0);
      const all = entries(name, repo);
      const next = `<${hub.url}${url.pathname}?recursive=true&cursor=${at + PAGE}>; rel="next"`;
      return json(res, all.slice(at, at + PAGE), at + PAGE < all.length ? { link: next } : {});
    }
    if (repo.gated && !known)
      return refuse(res, req.headers.authorization ? 403 : 401, 'GatedRepo', 'Access is restricted');
    const bytes = repo.files[file.join('/')];
    if (bytes === undefined) return refuse(res, 404, 'EntryNotFound', 'Entry not found');
    const { status, headers, redirect } = hub.fault;
    if (status !== undefined) {
      res.writeHead(status, headers);
      return void res.end();
    }
    if (!isLarge(file.join('/'), bytes))
      return content({ bytes, tag: blob(bytes), fault: hub.fault }, req, res);
    res.writeHead(302, {
      location: redirect ?? `/storage/${sha256(bytes)}?X-Signature=abc`,
      'x-linked-etag': `"${sha256(bytes)}"`,
      'x-linked-size': String(bytes.length),
      'x-repo-commit': commit(name),
    });
    res.end();
  }

  function search(url: URL, res: ServerResponse): void {
    const query = url.searchParams.get('search') ?? '';
    const found = Object.entries(hub.repos).filter(([name]) =>
      name.toLowerCase().includes(query.toLowerCase()),
    );
    json(
      res,
      found.map(([name, { gated = false }]) => ({
        _id: name,
        id: name,
        private: false,
        gated: gated && 'manual',
        downloads: 7,
        likes: 3,
        tags: ['gguf', 'license:mit'],
        pipeline_tag: 'text-generation',
        lastModified: '2030-01-01T00:00:00.000Z',
      })),
    );
  }

  async function storage(sum: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const all = Object.values(hub.repos).flatMap(({ files }) => Object.values(files));
    const bytes = all.find((each) => sha256(each) === sum);
    if (bytes === undefined) return refuse(res, 404, 'EntryNotFound', 'no such object');
    const fault = hub.queue.shift() ?? hub.fault;
    if (fault.status !== undefined) {
      res.writeHead(fault.status, fault.headers);
      return void res.end();
    }
    if (fault.page !== undefined) return page(fault.page, res);
    await content({ bytes: fault.bytes ?? bytes, tag: fault.etag ?? sum.slice(0, 32), fault }, req, res);
  }

  function page({ type, hasLength }: NonNullable<Fault['page']>, res: ServerResponse): void {
    const text = `<!DOCTYPE html><title>Log in</title>${'<p>Please log in.</p>'.repeat(200)}`;
    res.writeHead(200, {
      'content-type': type,
      ...(hasLength && { 'content-length': String(Buffer.byteLength(text)) }),
    });
    if (hasLength) return void res.end(text);
    res.write(text);
    res.end();
  }

  async function content(
    { bytes, tag, fault }: { bytes: Buffer; tag: string; fault: Fault },
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { ignoresRanges, gzip, endless, shifted } = fault;
    const etag = `"${tag}"`;
    const [, from] = /^bytes=(\d+)-$/.exec(req.headers.range ?? '') ?? [];
    const condition = req.headers['if-range'];
    const ranged = from !== undefined && !ignoresRanges && (condition === undefined || condition === etag);
    const start = ranged ? Number(from) - (shifted?.by ?? 0) : 0;
    if (ranged && start >= bytes.length) {
      res.writeHead(416, { 'content-range': `bytes */${bytes.length}` });
      return void res.end();
    }
    res.writeHead(ranged ? (shifted?.status ?? 206) : 200, {
      etag,
      'accept-ranges': 'bytes',
      ...(endless ? {} : { 'content-length': String(bytes.length - start) }),
      ...(ranged ? { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` } : {}),
      ...(gzip ? { 'content-encoding': 'gzip' } : {}),
    });
    await pour({ bytes: endless ? Buffer.concat([bytes, bytes, bytes]) : bytes, start, fault }, res);
  }

  async function pour(
    { bytes, start, fault }: { bytes: Buffer; start: number; fault: Fault },
    res: ServerResponse,
  ): Promise<void> {
    res.setMaxListeners(0);
    let left = fault.cutAfter ?? Number.POSITIVE_INFINITY;
    for (let at = start; at < bytes.length; at += PIECE) {
      const piece = bytes.subarray(at, Math.min(at + PIECE, bytes.length, at + left));
      left -= piece.length;
      sent += piece.length;
      const canContinue = res.write(piece);
      if (left <= 0) {
        // Flushes written data before the cut.
        return void res.socket?.end();
      }
      if (!canContinue) await new Promise((resolve) => res.once('drain', resolve).once('close', resolve));
      const { slowMs } = hub.fault;
      if (slowMs !== undefined) await new Promise((resolve) => setTimeout(resolve, slowMs));
      if (res.destroyed) return;
    }
    res.end();
  }

  hub.port = await listenOnLoopback(server);
  hub.url = `http://127.0.0.1:${hub.port}`;
  hub.sent = () => sent;
  hub.commit = commit;
  hub.close = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    });
  return hub;
}
