import type { StreamEvent } from '../../daemon/contract/event-stream.ts';
import type { RouteId } from '../../daemon/contract/routes.ts';
import { type CallOptions, send } from './client.ts';
import { sseEvents } from './sse.ts';

const WAITS_MS: readonly number[] = [1000, 2000, 5000, 15_000];
/** A stream without any bytes for this long counts as dead. */
const SILENCE_MS = 60_000;

export interface Stream {
  id: RouteId;
  /** Called before each connect; `again` is true for a reconnect. */
  options: (again: boolean) => CallOptions;
  onEvent: (event: StreamEvent) => void;
  onOpen?: (again: boolean) => void;
  /** Called when connecting failed or the stream broke. Returns whether to reconnect. */
  onBroken?: (error: unknown) => boolean;
}

interface StreamPosition {
  lastId: string | null;
  opened: boolean;
}

function withLastEventId(options: CallOptions, { lastId }: StreamPosition): CallOptions {
  if (lastId === null) return options;
  return { ...options, headers: { ...options.headers, 'last-event-id': lastId } };
}

async function listen(stream: Stream, position: StreamPosition, signal: AbortSignal): Promise<void> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const resetTimer = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  resetTimer();
  const again = position.opened;
  try {
    const options = withLastEventId(stream.options(again), position);
    const bounded = AbortSignal.any([signal, silence.signal]);
    const answer = await send(stream.id, { ...options, signal: bounded }, null);
    if (answer.body === null) return;
    position.opened = true;
    stream.onOpen?.(again);
    const onId = (lastId: string | null): void => {
      resetTimer();
      position.lastId = lastId ?? position.lastId;
    };
    for await (const event of sseEvents(answer.body, onId)) stream.onEvent(event);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Follows an event stream until the signal aborts. Reconnects with the last event id, so that the gateway replays missed
 * events or reports that it cannot with one `gap` event.
 */
export async function followStream(stream: Stream, signal: AbortSignal): Promise<void> {
  const position: StreamPosition = { lastId: null, opened: false };
  for (let tries = 0; !signal.aborted; tries += 1) {
    const began = Date.now();
    const reconnect = await listen(stream, position, signal).then(
      () => stream.onBroken?.(null) ?? true,
      (error: unknown) => signal.aborted || (stream.onBroken?.(error) ?? true),
    );
    if (!reconnect) return;
    if (Date.now() - began > SILENCE_MS) tries = 0;
    const wait = WAITS_MS[Math.min(tries, WAITS_MS.length - 1)];
    await new Promise((done) => setTimeout(done, wait));
  }
}
