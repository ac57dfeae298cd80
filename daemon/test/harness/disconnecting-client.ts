import { type IncomingMessage, request } from 'node:http';
import type { Gateway } from './gateway.ts';

/** A body and its type, as a route takes it. */
export interface Payload {
  readonly type: string;
  readonly bytes: Buffer;
}

export const jsonPayload = (body: unknown): Payload => ({
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify(body)),
});

const BOUNDARY = 'xyz';
const part = (name: string, more = '') =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;

/** A form with a recording for the transcription route. */
export const recording = (model: string, sound: Buffer): Payload => ({
  type: `multipart/form-data; boundary=${BOUNDARY}`,
  bytes: Buffer.concat([
    Buffer.from(`${part('model')}${model}\r\n${part('file', '; filename="a.wav"')}`),
    sound,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]),
});

/** A request whose caller can disconnect at any time. */
export interface StartedRequest {
  /** Resolves when the response headers arrive; rejects when there are none. */
  readonly response: Promise<IncomingMessage>;
  /** Resolves to the status when the response has ended or the connection broke. */
  readonly ended: Promise<number>;
  /** Closes the connection. */
  disconnect(): void;
}

/** POSTs on a new connection. */
export function startRequest(
  gateway: Pick<Gateway, 'port'>,
  path: string,
  payload: Payload,
  key?: string,
): StartedRequest {
  const headers = {
    'content-type': payload.type,
    'content-length': String(payload.bytes.length),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const req = request({ host: '127.0.0.1', port: gateway.port, method: 'POST', path, headers, agent: false });
  const { promise: response, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const ended = Promise.withResolvers<number>();
  for (const each of [response, ended.promise]) each.catch(() => {});
  req.on('error', (error) => {
    reject(error);
    ended.reject(error);
  });
  req.on('response', (res) => {
    res.on('error', () => {});
    res.once('close', () => ended.resolve(res.statusCode ?? 0));
    res.resume();
    resolve(res);
  });
  req.end(payload.bytes);
  return { response, ended: ended.promise, disconnect: () => void req.destroy() };
}
