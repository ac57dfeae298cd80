import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { ask } from './http-request.ts';
import type { Figures } from './load-closed.ts';
import type { Machine } from './machine.ts';

const start = join(import.meta.dirname, '..', 'start.mjs');
const LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 5;

const CHAT = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
} as const;

/** Milliseconds since `since` at which the question was answered 200. */
async function answeredMs(since: number, question: () => ReturnType<typeof ask>): Promise<number> {
  while ((await question().catch(() => null))?.status !== 200) {
    if (performance.now() - since > LIMIT_MS) throw new Error('a started gateway does not answer');
    await sleep(LOOK_EVERY_MS);
  }
  return performance.now() - since;
}

/**
 * `npm start` without npm, in a folder that was started in before: milliseconds until the first request is answered, and until
 * the first chat is, by the model that every gateway has. The first run of all makes the folder; it is not counted.
 */
export async function coldStart(machine: Machine): Promise<Figures> {
  const home = join(machine.folder, 'start-home');
  mkdirSync(home, { recursive: true });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const since = performance.now();
  const pid = machine.start('all', [process.execPath, start], { SVC_HOME: home, SVC_PORT: String(port) });
  const first = await answeredMs(since, () => ask(`${origin}/api/health`));
  const chat = await answeredMs(since, () => ask(`${origin}/v1/chat/completions`, CHAT));
  await machine.stop(pid);
  return { first_ms: first, chat_ms: chat };
}
