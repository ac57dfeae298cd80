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

/** A form with a recording, for the transcription route. */
export const recording = (model: string, sound: Buffer): Payload => ({
  type: `multipart/form-data; boundary=${BOUNDARY}`,
  bytes: Buffer.concat([
    Buffer.from(`${part('model')}${model}\r\n${part('file', '; filename="a.wav"')}`),
    sound,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]),
});

/** A caller who may leave at any time. */
export interface Leaver {
  /** The head of the answer; rejects when there is none. */
  readonly head: Promise<IncomingMessage>;
  /** The status, once the whole answer has come or the connection has broken. */
  readonly ended: Promise<number>;
  /** Closes the connection, whatever has come. */
  leave(): void;
}

/** POSTs on a connection of its own. */
export function begin(gateway: Pick<Gateway, 'port'>, path: string, payload: Payload, key?: string): Leaver {
  const headers = {
    'content-type': payload.type,
    'content-length': String(payload.bytes.length),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const req = request({ host: '127.0.0.1', port: gateway.port, method: 'POST', path, headers, agent: false });
  const { promise: head, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const over = Promise.withResolvers<number>();
  for (const each of [head, over.promise]) each.catch(() => {});
  req.on('error', (error) => {
    reject(error);
    over.reject(error);
  });
  req.on('response', (res) => {
    res.on('error', () => {});
    res.once('close', () => over.resolve(res.statusCode ?? 0));
    res.resume();
    resolve(res);
  });
  req.end(payload.bytes);
  return { head, ended: over.promise, leave: () => void req.destroy() };
}
