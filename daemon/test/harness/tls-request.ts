import type { IncomingHttpHeaders } from 'node:http';
import { connect as http2Connect } from 'node:http2';
import { request } from 'node:https';
import { connect as tlsConnect } from 'node:tls';
import type { SendOptions } from './http.ts';
import type { RealProxy } from './proxies.ts';

type TlsEndpoint = Pick<RealProxy, 'port' | 'ca'>;

/** Opens a request over TLS, from any loopback address. */
export function openTlsRequest(
  { port, ca }: TlsEndpoint,
  method: string,
  path: string,
  { from, key, headers }: Pick<SendOptions, 'from' | 'key' | 'headers'> = {},
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

export interface TlsResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  code: string | undefined;
}

/** Reads the whole response of a request of `openTlsRequest`. */
export function readResponse(req: ReturnType<typeof openTlsRequest>): Promise<TlsResponse> {
  return new Promise((resolve, reject) => {
    req.setTimeout(30_000, () => req.destroy(new Error('no answer within 30 s')));
    req.on('error', reject);
    req.on('response', (res) => {
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

/** Sends one request over TLS with a JSON body or none. */
export function sendOverTls(
  proxy: TlsEndpoint,
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<TlsResponse> {
  const payload = options.body === undefined ? undefined : JSON.stringify(options.body);
  const req = openTlsRequest(proxy, method, path, {
    ...options,
    headers: {
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
      ...(options.cookie === undefined ? {} : { cookie: options.cookie }),
      ...options.headers,
    },
  });
  const response = readResponse(req);
  req.end(payload);
  return response;
}

/** Opens a connection that supports HTTP/2 only. */
export const connectHttp2 = ({ port, ca }: TlsEndpoint) =>
  http2Connect(`https://localhost:${port}`, {
    createConnection: () =>
      tlsConnect({ host: '127.0.0.1', port, ca, servername: 'localhost', ALPNProtocols: ['h2'] }),
  });
