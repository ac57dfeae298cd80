import { Agent, request } from 'node:http';
import { type ClosedLoad, type ClosedRun, headersOf, pathOf } from './closed-load.ts';
import { rank } from './ratios.ts';
import type { Target } from './targets.ts';

/** Sends one POST and reads the answer. Returns its status; 0 when the connection failed. */
function post(target: Target, load: ClosedLoad, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const headers = { ...headersOf(load, target), 'content-length': String(Buffer.byteLength(load.body)) };
    const url = new URL(pathOf(load), target.url);
    const req = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('error', () => resolve(0));
    });
    req.on('error', () => resolve(0));
    req.end(load.body);
  });
}

/** Runs a closed loop in this process. */
export async function runClosedLoop(target: Target, load: ClosedLoad): Promise<ClosedRun> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const start = performance.now();
  const end = start + load.secs * 1000;
  const took: number[] = [];
  let bad = 0;
  const sendNext = async (): Promise<void> => {
    for (let at = performance.now(); at < end; at = performance.now()) {
      const status = await post(target, load, agent);
      if (status === 200) took.push((performance.now() - at) * 1000);
      else bad++;
    }
  };
  await Promise.all(Array.from({ length: load.connections }, sendNext));
  agent.destroy();
  return {
    requests: took.length,
    us: (performance.now() - start) * 1000,
    p50: rank(took, 0.5),
    p99: rank(took, 0.99),
    bad,
  };
}
