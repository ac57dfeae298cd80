/** Returns an SSE event with `value` as JSON. */
export function sseData(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** Returns an SSE event with a name and, for streams with replay, an id. `data` must be a single line. */
export function sseEvent({ id, event, data }: { id?: number; event: string; data: string }): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/**
 * Returns an SSE comment, which keeps a connection alive and is ignored by clients. Line breaks in `text`
 * become spaces.
 */
export function sseComment(text: string): string {
  return `: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`;
}

const [LINE_FEED, RETURN, COLON] = [10, 13, 58];

/**
 * Returns whether bytes of an event stream that start at a line start contain only comments and blank lines.
 * The rest of a comment that started earlier counts as content.
 */
export function isOnlyComments(bytes: Buffer): boolean {
  let lineBegins = true;
  for (const byte of bytes) {
    if (byte === LINE_FEED || byte === RETURN) lineBegins = true;
    else if (lineBegins && byte !== COLON) return false;
    else lineBegins = false;
  }
  return true;
}

/** Headers of every event stream: not cached, transformed or buffered by a proxy. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** Returns whether a content type is an event stream, regardless of parameters and case. */
export function isEventStream(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*text\/event-stream\s*(;|$)/i.test(contentType);
}
