import { EventStreamParser, type StreamEvent, streamEvents } from '../contract/event-stream.ts';

export type { StreamEvent };

const MAX_EVENT_LENGTH = 1 << 20;

/** Yields the events of an event stream, in order, without comments. Throws for an event that is too long. */
export function sseEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<StreamEvent> {
  const tooLong = () => new Error('an event of the stream is longer than 1 MiB');
  return streamEvents(chunks, new EventStreamParser({ maxEventLength: MAX_EVENT_LENGTH, tooLong }));
}

/** Yields the data of the events of an event stream, in order. */
export async function* sseData(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const { data } of sseEvents(chunks)) yield data;
}

export interface Delta {
  text: string;
  error: { code: string | null; message: string } | null;
}

/** The text of one chat chunk, or the error that ends the stream. */
export function deltaOf(data: string): Delta {
  const chunk = JSON.parse(data) as {
    error?: { message?: string; code?: string | null };
    choices?: { delta?: { content?: string | null } }[];
  };
  if (chunk.error) {
    const { code = null, message = 'the connection closed before the response ended' } = chunk.error;
    return { text: '', error: { code, message } };
  }
  return { text: chunk.choices?.[0]?.delta?.content ?? '', error: null };
}
