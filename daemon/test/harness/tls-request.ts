import type { IncomingHttpHeaders } from 'node:http';
import { connect as http2Connect } from 'node:http2';
import { request } from 'node:https';
import { connect as tlsConnect } from 'node:tls';
import type { Ask } from './http.ts';
import type { RealProxy } from './proxies.ts';

type Door = Pick<RealProxy, 'port' | 'ca'>;

/** The start of a request over TLS from any loopback address. */
export function through(
  { port, ca }: Door,
  method: string,
  path: string,
  { from, key, headers }: Pick<Ask, 'from' | 'key' | 'headers'> = {},
) {
  return request({
    ...{
      host: '127.0.0.1',
      port,
      ca,
      servername: 'localhost',
      localAddress: from,
      method,
      path,
      agent: false,
    },
    headers: {
      host: `localhost:${port}`,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
  });
}

export interface Heard {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  code: string | undefined;
}

/** The whole answer to a request that `through` has begun. */
export function heard(begun: ReturnType<typeof through>): Promise<Heard> {
  return new Promise((resolve, reject) => {
    begun.setTimeout(30_000, () => begun.destroy(new Error('no answer within 30 s')));
    begun.on('error', reject);
    begun.on('response', (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk: string) => {
        text += chunk;
      });
      res.on('error', reject);
      res.on('end', () => {
        const code = /^\{"error":\{.*?"code":"([^"]+)"/.exec(text)?.[1];
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, code });
      });
    });
  });
}

/** One request over TLS with a JSON body or none. */
export function askOverTls(proxy: Door, method: string, path: string, options: Ask = {}): Promise<Heard> {
  const payload = options.body === undefined ? undefined : JSON.stringify(options.body);
  const begun = through(proxy, method, path, {
    ...options,
    headers: {
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
      ...(options.cookie === undefined ? {} : { cookie: options.cookie }),
      ...options.headers,
    },
  });
  const answer = heard(begun);
  begun.end(payload);
  return answer;
}

/** A connection that speaks HTTP/2 or nothing. */
export const overHttp2 = ({ port, ca }: Door) =>
  http2Connect(`https://localhost:${port}`, {
    createConnection: () =>
      tlsConnect({ host: '127.0.0.1', port, ca, servername: 'localhost', ALPNProtocols: ['h2'] }),
  });
