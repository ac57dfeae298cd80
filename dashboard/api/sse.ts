export interface SseEvent {
  /** Name of the event; `message` when the sender gave none. */
  event: string;
  data: string;
  /** Last id so far, also for events without one. */
  id: string | null;
}

/** Maximum length of an unfinished event, in characters. */
const MAX_CHARS = 1_048_576;

function field(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon < 0) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}

/** Incremental parser for server-sent events (WHATWG HTML, "Server-sent events"). Skips comments. */
export class SseParser {
  #rest = '';
  #data: string[] = [];
  #event = '';
  #id: string | null = null;

  /** The last id of all complete blocks, including those without data. */
  lastId: string | null = null;

  /** Adds a chunk of text and returns the events that it completes. Throws for an event that is too long. */
  push(text: string): SseEvent[] {
    this.#rest += text;
    if (this.#rest.length > MAX_CHARS) throw new Error('an event of the stream is longer than 1 MiB');
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): SseEvent | null {
    if (line === '') return this.#dispatch();
    const [name, value] = field(line);
    if (name === 'data') this.#data.push(value);
    if (name === 'event') this.#event = value;
    if (name === 'id') this.#id = value;
    return null;
  }

  #dispatch(): SseEvent | null {
    const [data, event] = [this.#data, this.#event || 'message'];
    this.#data = [];
    this.#event = '';
    this.lastId = this.#id;
    return data.length === 0 ? null : { event, data: data.join('\n'), id: this.#id };
  }
}

/**
 * Yields the events of a streamed response in order. `onBytes` is called after each chunk, including comments, with the last
 * event id for a reconnect.
 */
export async function* sseEvents(
  body: ReadableStream<Uint8Array>,
  onBytes?: (lastId: string | null) => void,
): AsyncGenerator<SseEvent> {
  const parser = new SseParser();
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
      onBytes?.(parser.lastId);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
