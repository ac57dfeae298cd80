/**
 * The reference of the gate: a bare proxy on the same Node. It checks a bearer key, reads the body, replaces the model, forwards the
 * request over keep-alive connections and pipes the answer back. It runs the same runtime and the same HTTP code as the gateway,
 * so a ratio to it does not depend on the machine or the state of its caches.
 *   node scripts/bench/reference.ts PORT ORIGIN KEY
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Pool } from 'undici';

const MODEL_FIELD = Buffer.from('"model":"');
const QUOTE = 0x22;
const CONNECTIONS = 1024;

export interface ReferenceOptions {
  readonly origin: string;
  readonly key: string;
  /** The model that the upstream gets. */
  readonly model: string;
}

/** Returns the body with the first `"model"` replaced; the body itself when it has none. */
export function withModel(body: Buffer, model: string): Buffer {
  const field = body.indexOf(MODEL_FIELD);
  if (field === -1) return body;
  const start = field + MODEL_FIELD.length;
  return Buffer.concat([
    body.subarray(0, start),
    Buffer.from(model),
    body.subarray(body.indexOf(QUOTE, start)),
  ]);
}

function bodyOf(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('error', reject);
  });
}

function end(res: ServerResponse, status: number, message: string): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
}

/** Creates the proxy; the caller makes it listen. */
export function createReference({ origin, key, model }: ReferenceOptions): Server {
  const pool = new Pool(origin, { connections: CONNECTIONS });
  const authorization = `Bearer ${key}`;

  async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.headers.authorization !== authorization) return end(res, 401, 'The key is wrong.');
    const body = withModel(await bodyOf(req), model);
    const headers = { 'content-type': req.headers['content-type'] ?? 'application/json' };
    const answer = await pool.request({ method: 'POST', path: req.url ?? '/', headers, body });
    const { 'content-type': type, 'content-length': length } = answer.headers;
    res.writeHead(answer.statusCode, {
      'content-type': String(type),
      ...(length === undefined ? {} : { 'content-length': String(length) }),
    });
    answer.body.on('error', () => res.destroy()).pipe(res);
  }

  const server = createServer({ noDelay: true }, (req, res) => {
    forward(req, res).catch((error: Error) =>
      res.headersSent ? res.destroy() : end(res, 502, error.message),
    );
  });
  return server.on('close', () => void pool.close());
}

if (import.meta.main) {
  const [port = '', origin = '', key = ''] = process.argv.slice(2);
  createReference({ origin, key, model: 'mock' }).listen(Number(port), '127.0.0.1', 4096);
}
