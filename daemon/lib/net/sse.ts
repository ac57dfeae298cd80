/** One SSE event with `value` as JSON in its data line. */
export function sseData(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** One SSE event with a name and, where the stream can be caught up with, an id; `data` is a text of one line. */
export function sseEvent({ id, event, data }: { id?: number; event: string; data: string }): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** An SSE comment: keeps a connection alive, ignored by every client. Line ends in `text` become spaces. */
export function sseComment(text: string): string {
  return `: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`;
}

const [LINE_FEED, RETURN, COLON] = [10, 13, 58];

/**
 * Whether bytes of an event stream that begin a line are nothing but comments and blank lines. The rest of a comment whose
 * beginning came before counts as words.
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

/** Headers of every event stream: never cached, changed or held back by a proxy. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** Whether a content type is an event stream, whatever its parameters and case. */
export function isEventStream(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*text\/event-stream\s*(;|$)/i.test(contentType);
}
