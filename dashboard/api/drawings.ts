import type { GatewayEvents } from '../../daemon/contract/events.ts';

export type Drawing = GatewayEvents['image'];

const listeners = new Set<(drawing: Drawing) => void>();

/** Tells everybody who waits for a picture how far one is. */
export function noteDrawing(drawing: Drawing): void {
  for (const listener of listeners) listener(drawing);
}

/** Hears of every drawing of the gateway until the answer is called. */
export function onDrawing(listener: (drawing: Drawing) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
