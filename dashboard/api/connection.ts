import { useSyncExternalStore } from 'react';

/** Whether the gateway answers. `since`: Unix milliseconds of the last change; `seen`: of the last answer. */
export interface Connection {
  readonly up: boolean;
  readonly since: number;
  readonly seen: number;
}

const PROBE_MS: readonly number[] = [1000, 2000, 3000, 5000];
const listeners = new Set<() => void>();
const returned = new Set<() => void>();
let state: Connection = { up: true, since: Date.now(), seen: Date.now() };

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
    // Still away: the next try follows.
  }
  return probe(tries + 1);
}

/** Every answer of the gateway, whatever its status, proves the connection. */
export function reportAnswer(): void {
  const now = Date.now();
  const back = !state.up;
  change({ up: true, since: back ? now : state.since, seen: now });
  if (back) for (const listener of returned) listener();
}

/** A call that got no answer; from then on the gateway is probed until it is back. */
export function reportLost(): void {
  if (!state.up) return;
  change({ up: false, since: Date.now(), seen: state.seen });
  void probe(0);
}

/** Calls `listener` each time the gateway is back after it was lost. */
export function onReturn(listener: () => void): () => void {
  returned.add(listener);
  return () => returned.delete(listener);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The connection, live. */
export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => state);
}
