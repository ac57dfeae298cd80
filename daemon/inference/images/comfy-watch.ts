import { openSocket } from '../../lib/net/outbound-socket.ts';
import type { Place } from './ask.ts';
import { type ComfyEvent, comfyEvent } from './comfy-events.ts';

const CONNECT_MS = 5_000;
/** Previews of pictures come as messages too. */
const MOST_MESSAGE = 16 * 1024 * 1024;

/** The events of one client of ComfyUI, as hints: what is true the history tells. */
export interface ComfyWatch {
  /** Whether events come; without them the history must be asked more often. */
  readonly alive: boolean;
  close(): void;
}

export interface Listener {
  /** The job that is listened for; null while it has no id. */
  job(): string | null;
  heard(event: ComfyEvent): void;
  /** No events come any more, or none ever did. */
  deaf(): void;
}

/** Listens for one job. A socket that cannot be opened or breaks is no failure: nobody listens then. */
export function watchComfy(place: Place, clientId: string, listener: Listener): ComfyWatch {
  let alive = false;
  const socket = openSocket(
    {
      origin: place.origin,
      path: `/ws?clientId=${encodeURIComponent(clientId)}`,
      headers: place.headers,
      connectTimeoutMs: place.connectMs ?? CONNECT_MS,
      maxMessageBytes: MOST_MESSAGE,
    },
    {
      opened: () => {
        alive = true;
      },
      text: (message) => {
        const id = listener.job();
        const event = id === null ? null : comfyEvent(message, id);
        if (event !== null) listener.heard(event);
      },
      ended: () => {
        alive = false;
        listener.deaf();
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
