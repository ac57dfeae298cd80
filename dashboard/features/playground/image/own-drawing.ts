import type { Drawing } from '../../../api/drawings.ts';

/**
 * Picks the events of one request out of those of all drawings. A browser learns the id of its request with the answer
 * only, so it is taken to be the first that begins with the wanted slot or model after the request was sent. Answers
 * null for events of others.
 */
export function ownDrawing(wanted: {
  slot: string | null;
  model: string;
}): (drawing: Drawing) => Drawing | null {
  let own: string | null = null;
  const others = new Set<string>();
  return (drawing) => {
    const fits = wanted.slot === null ? drawing.model === wanted.model : drawing.slot === wanted.slot;
    if (own === null && drawing.state === 'queued' && fits && !others.has(drawing.request))
      own = drawing.request;
    if (drawing.request === own) return drawing;
    others.add(drawing.request);
    return null;
  };
}
