import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { ErrorEnvelope } from '../contract/errors.ts';
import { ROUTES, type RouteId } from '../contract/routes.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { isGatewayResponse, isHealth } from './gateway-response.ts';
import { adviceFor, hintOf } from './hints.ts';

/** A body that is streamed from its source. */
export interface Upload {
  readonly contentType: string;
  /** Total bytes; null when unknown. */
  readonly length: number | null;
  readonly chunks: AsyncIterable<Buffer>;
}

export interface CallOptions {
  /** Sent instead of a JSON body. */
  upload?: Upload;
  /** Maximum time without a byte, in milliseconds. */
  timeoutMs?: number;
  /** Values of `:name` in the path of the row. */
  params?: Readonly<Record<string, string>>;
  /** The revision that a change is based on. */
  ifMatch?: string;
  /** Query parameters. Undefined values are omitted. */
  query?: Readonly<Record<string, string | undefined>>;
}

export interface Client {
  /** The address of the gateway, without `/v1` and a slash at its end. */
  readonly base: string;
  /** Calls a route and returns its JSON. Throws CliError with the matching exit code. */
  call<T>(route: RouteId, body?: unknown, options?: CallOptions): Promise<T>;
  /** Like `call`, but returns the response as a stream. */
  open(route: RouteId, body: unknown, options?: CallOptions): Promise<IncomingMessage>;
}

export interface ClientOptions {
  /** `http://host:port`, or with a path in front of the gateway's own. */
  url: string;
  key: string | null;
}

const TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** A thin client of the HTTP API, based on the route table. Does not follow redirects. */
export function createClient({ url, key }: ClientOptions): Client {
  const open: Client['open'] = async (route, body, options) => {
    const res = await send(url, key, route, body, options);
    const status = res.statusCode ?? 500;
    if (!isGatewayResponse(res.headers) && !(await probeGateway(url))) {
      res.destroy();
      throw notAGateway(url, `it answered ${addressOf(route, options ?? {})} with status ${status}`);
    }
    if (status < 300) return res;
    throw refusal(status, await readAll(res));
  };
  return {
    base: url.replace(/\/+$/, '').replace(/\/v1$/, ''),
    open,
    call: async <T>(route: RouteId, body?: unknown, options?: CallOptions) =>
      parsed(await readAll(await open(route, body, options)), url) as T,
  };
}

/** The path of a row with its parameters filled in, and the query. */
function addressOf(route: RouteId, { params = {}, query = {} }: CallOptions): string {
  const path = ROUTES[route].path.replace(/[:*](\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const present = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return present.length === 0 ? path : `${path}?${new URLSearchParams(present)}`;
}

/** Checks whether a server whose response lacks the gateway's header is a gateway. Sends no key. */
async function probeGateway(base: string): Promise<boolean> {
  const res = await send(base, null, 'health', undefined);
  return isHealth(await readAll(res));
}

async function send(
  base: string,
  key: string | null,
  route: RouteId,
  body: unknown,
  options: CallOptions = {},
): Promise<IncomingMessage> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const { method } = ROUTES[route];
  const target = toUrl(base, addressOf(route, options));
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const headers: Record<string, string | number> = { accept: 'application/json' };
  if (key !== null) headers.authorization = `Bearer ${key}`;
  const { upload, ifMatch } = options;
  if (ifMatch !== undefined) headers['if-match'] = `"${ifMatch}"`;
  if (payload)
    Object.assign(headers, { 'content-type': 'application/json', 'content-length': payload.length });
  if (upload) {
    headers['content-type'] = upload.contentType;
    if (upload.length !== null) headers['content-length'] = upload.length;
  }
  // Loaded here because help and completion do not need it. An import would also load undici through its
  // getters.
  const { request } = process.getBuiltinModule(target.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    const req = request(target, { method, headers }, resolve);
    req.setTimeout(timeoutMs, () => req.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)));
    req.on('error', (error) => reject(unreachable(base, error)));
    if (upload === undefined) req.end(payload);
    else void sendAll(upload.chunks, req);
  });
}

/** Writes a body with backpressure. An error of the source aborts the request. */
async function sendAll(chunks: AsyncIterable<Buffer>, req: ClientRequest): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (req.destroyed) return;
      if (!req.write(chunk)) await once(req, 'drain');
    }
    req.end();
  } catch (error) {
    // If the gateway has already responded or closed the connection, that reports the failure.
    if (!req.destroyed) req.destroy(error as Error);
  }
}

/** `base` with the route's path after its own; `/v1`, which clients of OpenAI's API need, is removed. Throws CliError for anything but an http or https address. */
export function toUrl(base: string, path: string): URL {
  if (/^https?:\/\//i.test(base) && URL.canParse(base)) {
    return new URL(`${base.replace(/\/+$/, '').replace(/\/v1$/, '')}${path}`);
  }
  throw new CliError(`"${base}" is not a gateway address such as http://127.0.0.1:8080`, EXIT.usage);
}

const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there. Start the gateway, or name another address with --url or SVC_URL',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve',
  ECONNRESET: 'the connection was cut',
};

/**
 * A name with several addresses fails with an AggregateError without a message. The first of its errors names
 * the cause.
 */
function unreachable(base: string, error: Error & { code?: string }): CliError {
  if (error instanceof CliError) return error;
  const first = error instanceof AggregateError ? (error.errors[0] as Error & { code?: string }) : error;
  const hint = HINTS[error.code ?? first.code ?? ''] ?? first.message;
  return new CliError(`cannot reach ${base}: ${hint}`, EXIT.unreachable);
}

function exitOf(status: number): number {
  if (status === 429) return EXIT.limited;
  return status === 401 || status === 403 ? EXIT.refused : EXIT.failed;
}

function refusal(status: number, text: string): CliError {
  try {
    const { error } = JSON.parse(text) as ErrorEnvelope;
    return new CliError(
      `${error.message}${hintOf(error.message, error.details)}`,
      exitOf(status),
      error.code,
      adviceFor(error.code),
    );
  } catch {
    return new CliError(`the gateway answered with status ${status}`, exitOf(status));
  }
}

const notAGateway = (base: string, why: string): CliError =>
  new CliError(`${base} is not an svc-gateway: ${why}`, EXIT.unreachable);

function parsed(text: string, base: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notAGateway(base, 'its response is not JSON');
  }
}

/** Reads the whole body as text. Throws CliError when it is incomplete or too large. */
export function readAll(res: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const broken = () =>
      reject(new CliError('the connection closed before the response ended', EXIT.unreachable));
    // Uses events: the first `for await` over a stream of a process takes three milliseconds.
    res.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= MAX_RESPONSE_BYTES) return;
      reject(new CliError('the response is too large'));
      res.destroy();
    });
    res.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    res.on('error', broken).on('close', broken);
    // The connection may have closed while another request was running.
    if (res.destroyed) broken();
  });
}
