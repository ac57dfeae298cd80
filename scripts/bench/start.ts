import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { sendRequest } from './http-request.ts';
import type { Machine } from './machine.ts';
import type { Figures } from './ratios.ts';

const start = join(import.meta.dirname, '..', 'start.mjs');
const LIMIT_MS = 30_000;
const POLL_INTERVAL_MS = 5;

const CHAT = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
} as const;

/** Repeats the request until the response is 200. Returns the milliseconds since `since`. */
async function firstResponseMs(
  since: number,
  request: () => ReturnType<typeof sendRequest>,
): Promise<number> {
  while ((await request().catch(() => null))?.status !== 200) {
    if (performance.now() - since > LIMIT_MS) throw new Error('a started gateway does not answer');
    await sleep(POLL_INTERVAL_MS);
  }
  return performance.now() - since;
}

/**
 * Runs `npm start` without npm in an existing home folder. Measures milliseconds until the first response, and until the first
 * chat response of the demonstration model. The warm-up run creates the folder.
 */
export async function coldStart(machine: Machine): Promise<Figures> {
  const home = join(machine.folder, 'start-home');
  mkdirSync(home, { recursive: true });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const since = performance.now();
  const pid = machine.start('all', [process.execPath, start], { SVC_HOME: home, SVC_PORT: String(port) });
  const first = await firstResponseMs(since, () => sendRequest(`${origin}/api/health`));
  const chat = await firstResponseMs(since, () => sendRequest(`${origin}/v1/chat/completions`, CHAT));
  await machine.stop(pid);
  return { first_ms: first, chat_ms: chat };
}
