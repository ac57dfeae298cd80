import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { expect } from 'vitest';

/** A value in everything that must not reach an engine. */
export const SECRET = 'canary-of-the-caller';

/** Everything that a caller, a proxy or an attacker may send. */
export const MARKED_HEADERS: Record<string, string> = {
  authorization: `Bearer ${SECRET}`,
  cookie: `svc_session=${SECRET}`,
  origin: `http://${SECRET}`,
  referer: `http://${SECRET}/`,
  'x-api-key': SECRET,
  'api-key': SECRET,
  'proxy-authorization': `Basic ${SECRET}`,
  'x-svc-priority': 'batch',
  'x-svc-model-filter': SECRET,
  'x-svc-slot': SECRET,
  forwarded: `for=${SECRET}`,
  'x-forwarded-for': SECRET,
  'x-forwarded-host': SECRET,
  'x-forwarded-proto': 'https',
  'x-forwarded-prefix': SECRET,
  'x-real-ip': SECRET,
  'x-original-url': SECRET,
  'x-http-method-override': 'DELETE',
  via: SECRET,
  te: 'trailers',
  'keep-alive': 'timeout=1',
  'proxy-connection': 'keep-alive',
  connection: 'close, x-hop, accept-language',
  'x-hop': SECRET,
  'accept-language': SECRET,
  'accept-encoding': 'gzip, br',
  'user-agent': SECRET,
  'x-stainless-lang': SECRET,
  'x-request-id': SECRET,
  'openai-organization': SECRET,
  'if-none-match': SECRET,
};

/** One request as an engine received it. */
export interface RecordedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** An engine that records every complete request and responds `{}`. */
export function recorder(requests: RecordedRequest[]): RequestListener {
  return (req, res) => void record(req, res, requests);
}

async function record(req: IncomingMessage, res: ServerResponse, requests: RecordedRequest[]): Promise<void> {
  const parts: Buffer[] = [];
  for await (const chunk of req) parts.push(chunk as Buffer);
  const headers: Record<string, string> = {};
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    const name = (req.rawHeaders[at] as string).toLowerCase();
    expect(headers, `${name} is sent once`).not.toHaveProperty(name);
    headers[name] = req.rawHeaders[at + 1] as string;
  }
  const body = Buffer.concat(parts).toString('latin1');
  requests.push({ method: req.method ?? '', url: req.url ?? '', headers, body });
  res.setHeader('content-type', 'application/json');
  res.end('{}');
}

/** The exact headers that an engine may receive for a request with `body`. */
export const expectedHeaders = (origin: string, body: string, more: Record<string, string> = {}) => ({
  host: origin.replace('http://', ''),
  connection: 'keep-alive',
  'accept-encoding': 'identity',
  'x-request-id': 'r1',
  'content-type': 'application/json',
  authorization: 'Bearer engine-key',
  'content-length': String(Buffer.byteLength(body, 'latin1')),
  ...more,
});
