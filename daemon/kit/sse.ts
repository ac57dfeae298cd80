/** One SSE event with `value` as JSON in its data line. */
export function sseData(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** An SSE comment: keeps a connection alive, ignored by every client. Line ends in `text` become spaces. */
export function sseComment(text: string): string {
  return `: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`;
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
