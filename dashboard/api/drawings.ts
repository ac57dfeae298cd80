import type { GatewayEvents } from '../../daemon/contract/events.ts';

export type Drawing = GatewayEvents['image'];

const listeners = new Set<(drawing: Drawing) => void>();
/** Image requests that are running, as far as this page has received events. */
const going = new Set<string>();
/** Bounds the set in case end events were lost. */
const MAX_RUNNING = 64;

/** Publishes the progress of an image request. */
export function noteDrawing(drawing: Drawing): void {
  for (const listener of listeners) listener(drawing);
  if (drawing.state === 'done' || drawing.state === 'failed') going.delete(drawing.request);
  else if (going.size < MAX_RUNNING) going.add(drawing.request);
}

/** The image requests that are running now. */
export const drawnNow = (): ReadonlySet<string> => new Set(going);

/** Subscribes to the progress of all image requests. Returns the unsubscribe function. */
export function onDrawing(listener: (drawing: Drawing) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
