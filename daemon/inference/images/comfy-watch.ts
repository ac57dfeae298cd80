import { imageFormat } from '../../lib/media/image-format.ts';
import { openSocket } from '../../lib/net/outbound-socket.ts';
import { type ComfyEvent, comfyEvent } from './comfy-events.ts';
import type { Endpoint } from './engine-request.ts';

const CONNECT_MS = 5_000;
/** Previews of images are sent as messages too. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The events of one ComfyUI client, used as hints; the history is authoritative. */
export interface ComfySubscription {
  /** Whether events arrive; without them, poll the history more often. */
  readonly alive: boolean;
  close(): void;
}

export interface ComfyListener {
  /** The id of the job; null while it has none. */
  jobId(): string | null;
  /** Whether the steps of a node are the progress; default: the sampler of a workflow of the gateway. */
  readonly isSampler?: ((node: unknown) => boolean) | undefined;
  onEvent(event: ComfyEvent): void;
  /** A preview of the image that this client is waiting for. */
  onPreview?(image: Buffer): void;
  /** No more events will arrive. */
  onClosed(): void;
}

/** Subscribes to the events of one job. A socket that fails is no error: events are then missing. */
export function subscribeComfy(
  endpoint: Endpoint,
  clientId: string,
  listener: ComfyListener,
): ComfySubscription {
  let alive = false;
  const socket = openSocket(
    {
      origin: endpoint.origin,
      path: `/ws?clientId=${encodeURIComponent(clientId)}`,
      headers: endpoint.headers,
      connectTimeoutMs: endpoint.connectMs ?? CONNECT_MS,
      maxMessageBytes: MAX_MESSAGE_BYTES,
    },
    {
      opened: () => {
        alive = true;
      },
      text: (message) => {
        const id = listener.jobId();
        const event = id === null ? null : comfyEvent(message, id, listener.isSampler);
        if (event !== null) listener.onEvent(event);
      },
      binary: (message) => {
        const image = previewOf(message);
        if (image !== null) listener.onPreview?.(image);
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

const PREVIEW_IMAGE = 1;
const HEADER_BYTES = 8;

/** Returns the image of a binary message, which only the client of the job receives; null for any other message. */
function previewOf(message: Buffer): Buffer | null {
  if (message.length <= HEADER_BYTES || message.readUInt32BE(0) !== PREVIEW_IMAGE) return null;
  const image = message.subarray(HEADER_BYTES);
  return imageFormat(image) === null ? null : image;
}
