import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { cpuTimer } from '../../lib/testing/cpu-time.ts';

/** One request of a test and its response. */
export interface SentRequest {
  readonly req: ClientRequest;
  /** Resolves with the response head. */
  readonly head: Promise<IncomingMessage>;
}

export function send(
  origin: string,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): SentRequest {
  const req = request(`${origin}${path}`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
  });
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    req.once('response', resolve);
    req.once('error', reject);
  });
  head.catch(() => {});
  req.end(body);
  return { req, head };
}

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body ended cleanly; false for a broken connection. */
  readonly whole: boolean;
}

/** Sends a request and reads the whole response. */
export async function post(origin: string, path: string, body: unknown, headers = {}): Promise<TestResponse> {
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return readAll(await send(origin, path, bytes, headers).head);
}

export async function readAll(res: IncomingMessage): Promise<TestResponse> {
  let body = '';
  let whole = true;
  res.setEncoding('utf8');
  try {
    for await (const chunk of res) body += chunk as string;
  } catch {
    whole = false;
  }
  return { status: res.statusCode ?? 0, headers: res.headers, body, whole };
}

/** Longer waits than this are not measured exactly. Tests of a disconnect allow 250 ms. */
const MEASURED_MS = 300;

/**
 * Waits until `check` holds, checking once per tick at first. Throws after the time limit. Returns the milliseconds that this
 * thread ran meanwhile: the time of a wait up to `MEASURED_MS`, without the other programs of a busy machine; more than
 * `MEASURED_MS` for a longer one, which does not keep the processor busy.
 */
export async function until(check: () => boolean, limitMs = 20_000): Promise<number> {
  const start = performance.now();
  const cpuMs = cpuTimer();
  while (!check()) {
    if (performance.now() - start > limitMs) throw new Error('the condition did not become true in time');
    await (cpuMs() > MEASURED_MS ? pause(5) : turn());
  }
  return cpuMs();
}
