import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Gateway } from './gateway.ts';

/** A response that is read while it is being received. */
export interface StreamedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The text received so far. */
  text(): string;
  /** Resolves at the end: true when the body is complete, false when the connection broke. */
  ended: Promise<boolean>;
  /** Closes the connection. */
  disconnect(): void;
}

/** Starts to read the body of a response. */
export function readStream(req: ClientRequest, res: IncomingMessage): StreamedResponse {
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
    disconnect: () => void req.destroy(),
  };
}

/** POSTs JSON and resolves when the response headers have arrived. */
export function openStream(
  gateway: Pick<Gateway, 'port'>,
  path: string,
  body: unknown,
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<StreamedResponse> {
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
    req.on('response', (res) => resolve(readStream(req, res)));
    req.end(payload);
  });
}

/** Returns the `data:` payloads of an event stream. */
export const dataOf = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));

/** Returns the text of a streamed chat reply. */
export const contentOf = (text: string): string =>
  dataOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => (JSON.parse(data) as Chunk).choices?.[0]?.delta.content ?? '')
    .join('');

interface Chunk {
  choices?: { delta: { content?: string } }[];
}
