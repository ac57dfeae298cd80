import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatBody } from './bodies.ts';
import { text } from './http-request.ts';
import type { Figures } from './ratios.ts';
import type { Target } from './targets.ts';

const STREAMS = 16;
const LIMIT_MS = 3_000;

/** Opens a stream and disconnects after the first bytes. */
function disconnect(target: Target): Promise<void> {
  const body = chatBody({ bytes: 200, turns: 1, stream: { tokens: 400, everyUs: 20_000 } });
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', ...target.headers };
    const options = { method: 'POST', agent: false as const, headers };
    const req = request(new URL('/v1/chat/completions', target.url), options, (answer) => {
      answer.once('data', () => {
        req.destroy();
        resolve();
      });
      answer.on('error', () => {});
    });
    req.on('error', () => resolve());
    req.end(body);
  });
}

/** Disconnects clients mid-stream. Measures how many aborts the model server detects, and how soon. */
export async function abortStreams(target: Target, direct: Target): Promise<Figures> {
  const aborted = async (): Promise<number> =>
    (JSON.parse(await text(`${direct.url.origin}/stats`)) as { aborted: number }).aborted;
  const abortedBefore = await aborted();
  await Promise.all(Array.from({ length: STREAMS }, () => disconnect(target)));
  const start = performance.now();
  let abortedCount = 0;
  while (performance.now() - start < LIMIT_MS) {
    abortedCount = (await aborted()) - abortedBefore;
    if (abortedCount >= STREAMS) break;
    await sleep(2);
  }
  return { aborted_of_16: abortedCount, after_ms: performance.now() - start };
}
