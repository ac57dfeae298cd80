import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Gateway } from './gateway.ts';

/** An answer that is read while it comes. */
export interface Streamed {
  status: number;
  headers: IncomingHttpHeaders;
  /** What has come so far. */
  text(): string;
  /** Resolves at the end: true when the body ended as it should, false when the connection broke. */
  ended: Promise<boolean>;
  /** Leaves without waiting for the end. */
  leave(): void;
}

/** Reads an answer whose head has come, while the rest comes. */
export function readAlong(req: ClientRequest, res: IncomingMessage): Streamed {
  let text = '';
  res.setEncoding('utf8');
  res.on('data', (chunk: string) => {
    text += chunk;
  });
  res.on('error', () => {});
  return {
    status: res.statusCode ?? 0,
    headers: res.headers,
    text: () => text,
    ended: new Promise<boolean>((done) => res.once('close', () => done(res.complete))),
    leave: () => void req.destroy(),
  };
}

/** POSTs JSON and resolves at the head of the answer. */
export function openStream(
  gateway: Pick<Gateway, 'port'>,
  path: string,
  body: unknown,
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<Streamed> {
  const payload = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(payload)),
    ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const req = request({
      host: '127.0.0.1',
      port: gateway.port,
      method: 'POST',
      path,
      headers,
      agent: false,
    });
    req.on('error', reject);
    req.on('response', (res) => resolve(readAlong(req, res)));
    req.end(payload);
  });
}

/** The `data:` payloads of an event stream. */
export const dataOf = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));

/** The text of a streamed chat answer. */
export const contentOf = (text: string): string =>
  dataOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => (JSON.parse(data) as Chunk).choices?.[0]?.delta.content ?? '')
    .join('');

interface Chunk {
  choices?: { delta: { content?: string } }[];
}
