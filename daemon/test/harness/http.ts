import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { ErrorEnvelope } from '../../contract/errors.ts';
import type { Gateway } from './gateway.ts';

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json<T = Record<string, unknown>>(): T;
  /** The code of an error envelope, or undefined. */
  code: string | undefined;
}

export interface SendOptions {
  headers?: Record<string, string | string[]>;
  /** A string or Buffer is sent as it is, anything else as JSON. */
  body?: unknown;
  key?: string;
  cookie?: string;
  /** Default: a new connection. */
  agent?: Agent;
  /** Destination address; default 127.0.0.1. */
  to?: string;
  /** Source address. For the login limiter, each address of 127.0.0.0/8 is a separate caller. */
  from?: string;
  /** Milliseconds without data after which the request fails; default 30 s. */
  idleTimeoutMs?: number;
}

function encode(options: SendOptions): {
  headers: Record<string, string | string[]>;
  payload: string | Buffer | undefined;
} {
  const headers: Record<string, string | string[]> = { ...options.headers };
  if (options.key !== undefined) headers.authorization = `Bearer ${options.key}`;
  if (options.cookie !== undefined) headers.cookie = options.cookie;
  if (options.body === undefined) return { headers, payload: undefined };
  if (typeof options.body === 'string' || Buffer.isBuffer(options.body))
    return { headers, payload: options.body };
  headers['content-type'] ??= 'application/json';
  return { headers, payload: JSON.stringify(options.body) };
}

function codeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as ErrorEnvelope).error?.code;
  } catch {
    return undefined;
  }
}

/** Sends one request. The path is sent unchanged, without normalisation. */
export function send(
  gateway: Pick<Gateway, 'port'>,
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<HttpResponse> {
  const { headers, payload } = encode(options);
  if (payload !== undefined) headers['content-length'] ??= String(Buffer.byteLength(payload));
  return new Promise((resolve, reject) => {
    const req = httpRequest(
      {
        host: options.to ?? '127.0.0.1',
        localAddress: options.from,
        port: gateway.port,
        method,
        path,
        headers,
        timeout: options.idleTimeoutMs ?? 30_000,
        agent: options.agent ?? false,
      },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers,
            text,
            json: () => JSON.parse(text),
            code: codeOf(text),
          });
        });
      },
    );
    req.on('error', reject);
    req.on('timeout', () => req.destroy(new Error('no answer within 30 s')));
    req.end(payload);
  });
}

/** Sends raw bytes. Returns everything received until the peer closes or `quietMs` pass without data. */
export function rawExchange(
  gateway: Pick<Gateway, 'port'>,
  bytes: string | Buffer,
  quietMs = 1500,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(gateway.port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const finish = () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('latin1'));
    };
    socket.setTimeout(quietMs, finish);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', finish);
    socket.on('error', finish);
    socket.write(bytes);
  });
}

/** Parses the first response of raw bytes: status, headers by lower-case name (the last of a name), and the rest. */
export function parseRaw(text: string): Pick<HttpResponse, 'status' | 'text' | 'code'> & {
  headers: Record<string, string>;
} {
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...lines] = text.slice(0, end === -1 ? undefined : end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((each) => [
      each.split(':', 1)[0]?.toLowerCase() ?? '',
      each.slice(each.indexOf(':') + 1).trim(),
    ]),
  );
  const body = end === -1 ? '' : text.slice(end + 4);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0),
    headers,
    text: body,
    code: codeOf(body),
  };
}

/** Returns the reply of a chat response, or the whole text of any other response. */
export const replyText = (response: HttpResponse): string =>
  response.json<{ choices?: { message: { content: string } }[] }>().choices?.[0]?.message.content ??
  response.text;

/** Logs in and returns the cookie pair to send. */
export async function login(gateway: Pick<Gateway, 'port'>, key: string): Promise<string> {
  const response = await send(gateway, 'POST', '/api/auth/login', { body: { key } });
  if (response.status !== 200) throw new Error(`login failed: ${response.status} ${response.text}`);
  return String(response.headers['set-cookie']).split(';')[0] as string;
}
