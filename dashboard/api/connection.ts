import { useSyncExternalStore } from 'react';

/** Connection state. `since`: Unix milliseconds of the last change; `lastResponseAt`: of the last response. */
export interface Connection {
  readonly up: boolean;
  readonly since: number;
  readonly lastResponseAt: number;
}

const PROBE_MS: readonly number[] = [1000, 2000, 3000, 5000];
const listeners = new Set<() => void>();
const returned = new Set<() => void>();
let state: Connection = { up: true, since: Date.now(), lastResponseAt: Date.now() };

function change(next: Connection): void {
  const was = state;
  state = next;
  if (was.up === next.up) return;
  for (const listener of listeners) listener();
}

async function probe(tries: number): Promise<void> {
  const wait = PROBE_MS[Math.min(tries, PROBE_MS.length - 1)];
  await new Promise((done) => setTimeout(done, wait));
  if (state.up) return;
  try {
    const answer = await fetch('/api/health', { cache: 'no-store', signal: AbortSignal.timeout(4000) });
    if (answer.ok) return reportAnswer();
  } catch {
    // Still unreachable: try again.
  }
  return probe(tries + 1);
}

/** Reports a response. Any status proves that the gateway is reachable. */
export function reportAnswer(): void {
  const now = Date.now();
  const back = !state.up;
  change({ up: true, since: back ? now : state.since, lastResponseAt: now });
  if (back) for (const listener of returned) listener();
}

/** Reports a request without a response. Probes the gateway until it is back. */
export function reportLost(): void {
  if (!state.up) return;
  change({ up: false, since: Date.now(), lastResponseAt: state.lastResponseAt });
  void probe(0);
}

/** Calls `listener` each time the connection returns. */
export function onReturn(listener: () => void): () => void {
  returned.add(listener);
  return () => returned.delete(listener);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Subscribes to the connection state. */
export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => state);
}
