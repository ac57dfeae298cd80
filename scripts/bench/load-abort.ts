import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatBody } from './bodies.ts';
import { text } from './http-request.ts';
import type { Figures } from './load-closed.ts';
import type { Target } from './targets.ts';

const STREAMS = 16;
const LIMIT_MS = 3_000;

/** Opens a stream and leaves it at its first byte. */
function leave(target: Target): Promise<void> {
  const body = chatBody({ bytes: 200, turns: 1, stream: { tokens: 400, everyUs: 20_000 } });
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', ...target.headers };
    const options = { method: 'POST', agent: false as const, headers };
    const asked = request(new URL('/v1/chat/completions', target.url), options, (answer) => {
      answer.once('data', () => {
        asked.destroy();
        resolve();
      });
      answer.on('error', () => {});
    });
    asked.on('error', () => resolve());
    asked.end(body);
  });
}

/** Callers go away mid-stream: how many of them the model server saw go, and how soon. */
export async function abortStreams(target: Target, direct: Target): Promise<Figures> {
  const aborted = async (): Promise<number> =>
    (JSON.parse(await text(`${direct.url.origin}/stats`)) as { aborted: number }).aborted;
  const before = await aborted();
  await Promise.all(Array.from({ length: STREAMS }, () => leave(target)));
  const start = performance.now();
  let seen = 0;
  while (performance.now() - start < LIMIT_MS) {
    seen = (await aborted()) - before;
    if (seen >= STREAMS) break;
    await sleep(2);
  }
  return { aborted_of_16: seen, after_ms: performance.now() - start };
}
