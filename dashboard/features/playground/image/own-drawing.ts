import type { Drawing } from '../../../api/drawings.ts';

export interface WantedDrawing {
  /** The slot that was asked; null for a model of an upstream. */
  readonly slot: string | null;
  readonly model: string;
  /** Requests that were drawn before: those of others. */
  readonly before: ReadonlySet<string>;
}

/**
 * Picks the events of one request out of those of all drawings. A browser learns the id of its request with the answer
 * only, so it is taken to be the first new one with the wanted slot or model. Answers null for events of others.
 */
export function ownDrawing(wanted: WantedDrawing): (drawing: Drawing) => Drawing | null {
  let own: string | null = null;
  return (drawing) => {
    const fits = wanted.slot === null ? drawing.model === wanted.model : drawing.slot === wanted.slot;
    if (own === null && fits && !wanted.before.has(drawing.request)) own = drawing.request;
    return drawing.request === own ? drawing : null;
  };
}
