import { type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { ErrorEnvelope } from '../contract/errors.ts';
import { ROUTES, type RouteId } from '../contract/routes.ts';
import { CliError, EXIT } from './exit-codes.ts';

export interface Client {
  /** Calls a row of the route table and answers its JSON. Throws CliError with the exit code that fits. */
  call<T>(route: RouteId, body?: unknown): Promise<T>;
  /** The same, answering the response as it comes. */
  open(route: RouteId, body: unknown, signal?: AbortSignal): Promise<IncomingMessage>;
}

export interface ClientOptions {
  url: string;
  key: string | null;
  /** Milliseconds without a byte until an ordinary call is given up. */
  timeoutMs?: number;
}

const MAX_ANSWER = 16 * 1024 * 1024;

/** A thin client of the HTTP API, made from the route table. */
export function createClient({ url, key, timeoutMs = 30_000 }: ClientOptions): Client {
  const open: Client['open'] = (route, body, signal) => send(url, key, route, body, signal, timeoutMs);
  return {
    open,
    call: async <T>(route: RouteId, body?: unknown) =>
      JSON.parse(await readAll(await open(route, body))) as T,
  };
}

function send(
  base: string,
  key: string | null,
  route: RouteId,
  body: unknown,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<IncomingMessage> {
  const { method, path } = ROUTES[route];
  const target = toUrl(base, path);
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const headers: Record<string, string | number> = { accept: 'application/json' };
  if (key !== null) headers.authorization = `Bearer ${key}`;
  if (payload)
    Object.assign(headers, { 'content-type': 'application/json', 'content-length': payload.length });
  return new Promise((resolve, reject) => {
    const make = target.protocol === 'https:' ? secureRequest : request;
    const req = make(target, { method, headers, signal }, (res) => {
      if ((res.statusCode ?? 500) < 300) return resolve(res);
      readAll(res).then((text) => reject(refusal(res.statusCode ?? 500, text)), reject);
    });
    req.setTimeout(timeoutMs, () => req.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)));
    req.on('error', (error) =>
      reject(new CliError(`cannot reach ${base}: ${error.message}`, EXIT.unreachable)),
    );
    req.end(payload);
  });
}

function toUrl(base: string, path: string): URL {
  if (!URL.canParse(path, base)) throw new CliError(`"${base}" is no address of a gateway`, EXIT.usage);
  return new URL(path, base);
}

function refusal(status: number, text: string): CliError {
  const exitCode =
    status === 429 ? EXIT.limited : status === 401 || status === 403 ? EXIT.refused : EXIT.failed;
  try {
    const { error } = JSON.parse(text) as ErrorEnvelope;
    const wait = error.details?.retry_after_s;
    const hint = typeof wait === 'number' ? ` Try again in ${wait} s.` : '';
    return new CliError(`${error.message}${hint} (${error.code})`, exitCode);
  } catch {
    return new CliError(`the gateway answered ${status}`, exitCode);
  }
}

async function readAll(res: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of res as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER) throw new CliError('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
