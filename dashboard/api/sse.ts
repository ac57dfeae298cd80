import { EventStreamParser, type StreamEvent } from '../../daemon/contract/event-stream.ts';

/** Maximum length of an unfinished event, in characters. */
const MAX_EVENT_LENGTH = 1_048_576;

/**
 * Yields the events of a streamed response in order. `onBytes` is called after each chunk, including comments, with the last
 * event id for a reconnect. Throws for an event that is too long.
 */
export async function* sseEvents(
  body: ReadableStream<Uint8Array>,
  onBytes?: (lastId: string | null) => void,
): AsyncGenerator<StreamEvent> {
  const tooLong = () => new Error('an event of the stream is longer than 1 MiB');
  const parser = new EventStreamParser({ maxEventLength: MAX_EVENT_LENGTH, tooLong });
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const block of parser.push(value)) if ('data' in block) yield block;
      onBytes?.(parser.lastId);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
