import { setTimeout as delay } from 'node:timers/promises';
import { MAX_DETECTION_MS } from '../../upstreams/hang-monitor.ts';
import { CHAT, chat, type Front } from './front-gateway.ts';
import { CLIENT_KEY, until } from './gateway.ts';
import { send } from './http.ts';
import type { UpstreamProcess } from './upstream-process.ts';

export interface LoadOutcome {
  readonly user: string;
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

export interface SuspendedLoadOptions {
  readonly front: Front;
  readonly upstreams: Readonly<Record<string, UpstreamProcess>>;
  readonly model: string;
  readonly requests: number;
  readonly concurrency: number;
  /** Pause of each worker between two requests, in milliseconds. */
  readonly pauseMs: number;
}

/** The documented wait of a request at a suspended upstream, and 1 s for the answer of the other one. */
export const MAX_P99_WAIT_MS = MAX_DETECTION_MS + 1_000;
/** The limit for a single wait, longer because the machine may be busy with other programs. */
export const MAX_WAIT_MS = 25_000;

/** Returns the wait that 99 % of the requests did not exceed. Milliseconds. */
export function p99WaitOf(outcomes: readonly LoadOutcome[]): number {
  const waits = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
  return waits[Math.ceil(0.99 * waits.length) - 1] ?? 0;
}

/**
 * Sends requests while each upstream is suspended in turn until the gateway has declared it down, then resumed.
 * Resolves with one outcome per request.
 */
export async function loadWhileSuspended(options: SuspendedLoadOptions): Promise<LoadOutcome[]> {
  const { front, model, requests, concurrency, pauseMs } = options;
  const outcomes: LoadOutcome[] = [];
  let next = 0;
  const worker = async () => {
    while (next < requests) {
      const user = `request-${next++}`;
      const before = performance.now();
      const response = await send(front.gateway, 'POST', CHAT, {
        body: chat(model, { user }),
        key: CLIENT_KEY,
        idleTimeoutMs: 4 * MAX_WAIT_MS,
      });
      outcomes.push({
        user,
        status: response.status,
        text: response.text,
        ms: performance.now() - before,
      });
      await delay(pauseMs);
    }
  };
  const load = Promise.all(Array.from({ length: concurrency }, worker));
  for (const [name, upstream] of Object.entries(options.upstreams)) {
    await until(() => upstream.received.length > 0 || next >= requests, `requests at ${name}`);
    upstream.suspend();
    await until(
      async () => (await front.upstream(name)).health === 'down',
      `${name} to be down`,
      MAX_WAIT_MS,
    );
    upstream.resume();
    await until(async () => (await front.upstream(name)).health === 'ok', `${name} to be back`, MAX_WAIT_MS);
  }
  await load;
  return outcomes;
}

/** Returns the users that one upstream received more than once. */
export const receivedTwice = ({ received }: UpstreamProcess): string[] =>
  received.filter((user, at) => received.indexOf(user) !== at);
