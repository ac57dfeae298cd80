import { Agent, request } from 'node:http';
import { chatBody } from './bodies.ts';
import type { Figures } from './load-closed.ts';
import { median } from './ratios.ts';
import type { Target } from './targets.ts';

const SMALL = Buffer.from(chatBody({ bytes: 100, turns: 1 }));
const LONG = Buffer.from(chatBody({ bytes: 4 << 20, turns: 59 }));

interface Sample {
  readonly ms: number;
  /** The value of `x-svc-overhead-ms`. */
  readonly reportedMs: number;
}

/** Sends one chat on a keep-alive connection. Returns null when it failed. */
function chat(target: Target, body: Buffer, agent: Agent): Promise<Sample | null> {
  const since = performance.now();
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  return new Promise((resolve) => {
    const url = new URL('/v1/chat/completions', target.url);
    const options = { method: 'POST', agent, headers: { ...headers, ...target.headers } };
    const req = request(url, options, (answer) => {
      const reportedMs = Number(answer.headers['x-svc-overhead-ms'] ?? Number.NaN);
      answer.resume();
      answer.on('error', () => resolve(null));
      answer.on('end', () =>
        resolve(answer.statusCode === 200 ? { ms: performance.now() - since, reportedMs } : null),
      );
    });
    req.on('error', () => resolve(null));
    req.end(body);
  });
}

async function oneByOne(target: Target, body: Buffer, secs: number): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const end = performance.now() + secs * 1000;
  const samples: (Sample | null)[] = [];
  while (performance.now() < end) samples.push(await chat(target, body, agent));
  agent.destroy();
  const good = samples.filter((each) => each !== null);
  return {
    ms: median(good.map(({ ms }) => ms)),
    reportedMs: median(good.map(({ reportedMs }) => reportedMs)),
    bad: samples.length - good.length,
  };
}

/** Measures a small and a 4 MB chat of one client: milliseconds until the answer, and the overhead that the gateway reports. */
export async function overhead(target: Target, secs: number): Promise<Figures> {
  const small = await oneByOne(target, SMALL, secs);
  const long = await oneByOne(target, LONG, secs);
  return {
    small_ms: small.ms ?? Number.NaN,
    small_reported_ms: small.reportedMs ?? Number.NaN,
    '4mb_ms': long.ms ?? Number.NaN,
    '4mb_reported_ms': long.reportedMs ?? Number.NaN,
    bad: (small.bad ?? 0) + (long.bad ?? 0),
  };
}
