export interface SseEvent {
  /** Name of the event; `message` when the sender gave none. */
  event: string;
  data: string;
  /** Last id seen so far, kept over events without one. */
  id: string | null;
}

/** Longest unfinished event that is kept, in characters; a longer one is an error of the sender. */
const MOST = 1_048_576;

function field(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon < 0) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}

/** Reads server-sent events piece by piece (WHATWG HTML, "Server-sent events"); comments are skipped. */
export class SseParser {
  #rest = '';
  #data: string[] = [];
  #event = '';
  #id: string | null = null;

  /** The last id of all complete blocks so far, those without data included. */
  lastId: string | null = null;

  /** Takes the next piece of text and gives the events that it completes. */
  push(text: string): SseEvent[] {
    this.#rest += text;
    if (this.#rest.length > MOST) throw new Error('an event of the stream is longer than 1 MiB');
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
 * The events of a streamed answer, in order, until it ends. `onBytes` hears of every piece, comments included, once its
 * events were taken; it is told the last id, with which a reader can come back.
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
