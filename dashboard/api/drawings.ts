import type { GatewayEvents } from '../../daemon/contract/events.ts';

export type Drawing = GatewayEvents['image'];

const listeners = new Set<(drawing: Drawing) => void>();
/** Requests whose pictures are being drawn now, as far as this page heard of them. */
const going = new Set<string>();
/** More cannot be drawn at once by any house; what is above was forgotten by a lost end. */
const MOST_GOING = 64;

/** Tells everybody who waits for a picture how far one is. */
export function noteDrawing(drawing: Drawing): void {
  for (const listener of listeners) listener(drawing);
  if (drawing.state === 'done' || drawing.state === 'failed') going.delete(drawing.request);
  else if (going.size < MOST_GOING) going.add(drawing.request);
}

/** The requests of others that are drawn already. */
export const drawnNow = (): ReadonlySet<string> => new Set(going);

/** Hears of every drawing of the gateway until the answer is called. */
export function onDrawing(listener: (drawing: Drawing) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
