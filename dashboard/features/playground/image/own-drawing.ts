import type { Drawing } from '../../../api/drawings.ts';

export interface WantedDrawing {
  /** The requested slot; null for a model of an upstream. */
  readonly slot: string | null;
  readonly model: string;
  /** Requests that were already running; they belong to other clients. */
  readonly before: ReadonlySet<string>;
}

/**
 * Filters the progress events of one request. The browser learns its request id only from the response, so the first new
 * request for the wanted slot or model is taken as its own. Returns null for events of other requests.
 */
export function ownDrawing(wanted: WantedDrawing): (drawing: Drawing) => Drawing | null {
  let own: string | null = null;
  return (drawing) => {
    const fits = wanted.slot === null ? drawing.model === wanted.model : drawing.slot === wanted.slot;
    if (own === null && fits && !wanted.before.has(drawing.request)) own = drawing.request;
    return drawing.request === own ? drawing : null;
  };
}
