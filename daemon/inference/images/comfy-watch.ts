import { openSocket } from '../../lib/net/outbound-socket.ts';
import type { Endpoint } from './ask.ts';
import { type ComfyEvent, comfyEvent } from './comfy-events.ts';

const CONNECT_MS = 5_000;
/** Previews of pictures come as messages too. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The events of one client of ComfyUI, as hints: what is true the history tells. */
export interface ComfySubscription {
  /** Whether events come; without them the history must be asked more often. */
  readonly alive: boolean;
  close(): void;
}

export interface ComfyListener {
  /** The job that is listened for; null while it has no id. */
  jobId(): string | null;
  onEvent(event: ComfyEvent): void;
  /** No events come any more, or none ever did. */
  onClosed(): void;
}

/** Listens for one job. A socket that cannot be opened or breaks is no failure: nobody listens then. */
export function subscribeComfy(
  place: Endpoint,
  clientId: string,
  listener: ComfyListener,
): ComfySubscription {
  let alive = false;
  const socket = openSocket(
    {
      origin: place.origin,
      path: `/ws?clientId=${encodeURIComponent(clientId)}`,
      headers: place.headers,
      connectTimeoutMs: place.connectMs ?? CONNECT_MS,
      maxMessageBytes: MAX_MESSAGE_BYTES,
    },
    {
      opened: () => {
        alive = true;
      },
      text: (message) => {
        const id = listener.jobId();
        const event = id === null ? null : comfyEvent(message, id);
        if (event !== null) listener.onEvent(event);
      },
      ended: () => {
        alive = false;
        listener.onClosed();
      },
    },
  );
  return {
    get alive() {
      return alive;
    },
    close: () => {
      alive = false;
      socket.terminate();
    },
  };
}
