import { setTimeout as sleep } from 'node:timers/promises';
import { chatBody } from './bodies.ts';
import { sendRequest } from './http-request.ts';
import type { Figures } from './load-closed.ts';
import { laneOf } from './load-sse.ts';
import { median } from './ratios.ts';
import { oneStream } from './sse-stream.ts';
import type { Target } from './targets.ts';

/** Streams with evenly spaced tokens: together one every 1.3 ms, so that every longer pause is measured. */
const STREAMS = 16;
const EVERY_US = 20_000;
const TOKENS = 180;
/** Bodies that are sent one after the other, with a pause after each. */
const BODIES = 5;
const PAUSE_MS = 200;
/** Time after a body in which all delayed tokens have arrived. */
const AFTER_MS = 30;
const BODY = Buffer.from(chatBody({ bytes: 6 << 20, turns: 60 }));
const CHAT_HEADERS = { 'content-type': 'application/json' };

interface Late {
  readonly at: number;
  readonly ms: number;
}

/** Sends one long body. Returns the period in which it may have delayed other streams, and whether it was served. */
async function oneBody(target: Target): Promise<{ from: number; to: number; served: boolean }> {
  const from = performance.now();
  const requestOptions = {
    method: 'POST',
    headers: { ...CHAT_HEADERS, ...target.headers },
    body: BODY,
  } as const;
  const { status } = await sendRequest(new URL('/v1/chat/completions', target.url), requestOptions);
  return { from, to: performance.now() + AFTER_MS, served: status === 200 };
}

const worst = (tokens: readonly Late[], from: number, to: number): number =>
  Math.max(0, ...tokens.filter(({ at }) => at >= from && at <= to).map(({ ms }) => ms));

/**
 * Measures how much a body of 6 MB delays the tokens of other streams: the median over several bodies of the largest delay
 * (`stall_ms`), and the same for periods of equal length without a body (`quiet_ms`).
 */
export async function stalls(target: Target): Promise<Figures> {
  const tokens: Late[] = [];
  let bad = 0;
  const callbacks = {
    first: () => {},
    late: (us: number) => void tokens.push({ at: performance.now(), ms: us / 1000 }),
    broken: () => void bad++,
  };
  const load = { tokens: TOKENS, everyUs: EVERY_US };
  const streams = Array.from({ length: STREAMS }, async (_, index) => {
    await sleep((EVERY_US / 1000 / STREAMS) * index);
    await oneStream(target, load, laneOf(index), callbacks);
  });
  const windows: { from: number; to: number }[] = [];
  await sleep(PAUSE_MS);
  for (let body = 0; body < BODIES; body++) {
    const { served, ...window } = await oneBody(target);
    if (!served) bad++;
    windows.push(window);
    await sleep(AFTER_MS + 2 * (window.to - window.from) + PAUSE_MS);
  }
  await Promise.all(streams);
  const after = (to: number, length: number) => worst(tokens, to + AFTER_MS, to + AFTER_MS + length);
  return {
    stall_ms: median(windows.map(({ from, to }) => worst(tokens, from, to))),
    quiet_ms: median(windows.map(({ from, to }) => after(to, to - from))),
    bad,
  };
}
