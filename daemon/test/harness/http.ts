import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { ErrorEnvelope } from '../../contract/errors.ts';
import type { Gateway } from './gateway.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json<T = Record<string, unknown>>(): T;
  /** The code of an error envelope, else undefined. */
  code: string | undefined;
}

export interface Ask {
  headers?: Record<string, string | string[]>;
  /** A string or Buffer goes out as it is; anything else as JSON. */
  body?: unknown;
  key?: string;
  cookie?: string;
  /** Default: a connection of its own. */
  agent?: Agent;
  /** The address to call; 127.0.0.1 by default. */
  to?: string;
  /** The own address to call from: any of 127.0.0.0/8 is a caller of its own for the limiter. */
  from?: string;
  /** Milliseconds of silence after which the caller gives up; default 30 s. */
  silenceMs?: number;
}

function encode(ask: Ask): {
  headers: Record<string, string | string[]>;
  payload: string | Buffer | undefined;
} {
  const headers: Record<string, string | string[]> = { ...ask.headers };
  if (ask.key !== undefined) headers.authorization = `Bearer ${ask.key}`;
  if (ask.cookie !== undefined) headers.cookie = ask.cookie;
  if (ask.body === undefined) return { headers, payload: undefined };
  if (typeof ask.body === 'string' || Buffer.isBuffer(ask.body)) return { headers, payload: ask.body };
  headers['content-type'] ??= 'application/json';
  return { headers, payload: JSON.stringify(ask.body) };
}

function codeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as ErrorEnvelope).error?.code;
  } catch {
    return undefined;
  }
}

/** One request with the path exactly as given: nothing is folded or normalised on the way. */
export function ask(
  gateway: Pick<Gateway, 'port'>,
  method: string,
  path: string,
  options: Ask = {},
): Promise<Answer> {
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
        timeout: options.silenceMs ?? 30_000,
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

/** Sends raw bytes and answers everything that came until the peer closed or `quietMs` passed without a byte. */
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

/** The first answer in raw bytes: status, headers by lower-case name (the last of a name), and what follows. */
export function parseRaw(text: string): Pick<Answer, 'status' | 'text' | 'code'> & {
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

/** What a chat answers; the whole text of an answer that is none. */
export const said = (answer: Answer): string =>
  answer.json<{ choices?: { message: { content: string } }[] }>().choices?.[0]?.message.content ??
  answer.text;

/** Logs in and answers the cookie pair to send back. */
export async function login(gateway: Pick<Gateway, 'port'>, key: string): Promise<string> {
  const answer = await ask(gateway, 'POST', '/api/auth/login', { body: { key } });
  if (answer.status !== 200) throw new Error(`login failed: ${answer.status} ${answer.text}`);
  return String(answer.headers['set-cookie']).split(';')[0] as string;
}
