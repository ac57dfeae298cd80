import { createParser } from 'eventsource-parser';

/** One dispatched event of an event stream. */
export interface StreamEvent {
  /** Name of the event; `message` when the sender gave none. */
  readonly event: string;
  readonly data: string;
  /** The id of this event, or the last one before it. Null when the stream has sent no id so far. */
  readonly id: string | null;
}

/** An event, or a comment line, which has no data. */
export type StreamBlock = StreamEvent | { readonly comment: true };

export interface EventStreamOptions {
  /** Maximum length of an unfinished event, in characters. */
  readonly maxEventLength: number;
  /** Creates the error that `push` throws for a longer event. */
  readonly tooLong: () => Error;
}

/** Returns the value of the last `id` field of some lines; null without one. The standard ignores an id with a NUL. */
function lastIdIn(lines: string): string | null {
  if (!lines.startsWith('id') && !lines.includes('\nid')) return null;
  const last = [...lines.matchAll(/^id(?:: ?([^\n\0]*))?$/gm)].at(-1);
  return last === undefined ? null : (last[1] ?? '');
}

/**
 * Incremental parser of server-sent events from arbitrary chunks of bytes
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream). `eventsource-parser` parses
 * fields and events. This class adds what that library lacks: the decoding, the byte order mark, lines that end in a lone CR, and the ids of
 * blocks without data.
 */
export class EventStreamParser {
  /** Keeps the byte order mark: Node's decoder removes two of them when a chunk ends inside the first. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #parser: ReturnType<typeof createParser>;
  #blocks: StreamBlock[] = [];
  #atStart = true;
  #endsInReturn = false;
  #endsInLineFeed = false;
  /** The lines since the last blank line. */
  #unfinished = '';
  #lastId: string | null = null;

  constructor({ maxEventLength, tooLong }: EventStreamOptions) {
    this.#parser = createParser({
      maxBufferSize: maxEventLength,
      onEvent: ({ event = 'message', data }) => {
        this.#blocks.push({ event, data, id: this.#lastId });
      },
      onComment: () => {
        this.#blocks.push({ comment: true });
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') throw tooLong();
      },
    });
    // The library removes the characters of an undecoded byte order mark from its first chunk. Here they are text.
    this.#parser.feed('');
  }

  /** The last id of all complete blocks, including those without data. */
  get lastId(): string | null {
    return this.#lastId;
  }

  /** Returns the events and comments that `chunk` completes, in order. Throws for an event above the limit. */
  push(chunk: Uint8Array): StreamBlock[] {
    return this.#parse(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Returns the event that the stream ends with when its blank line is missing. The standard discards it. */
  end(): StreamBlock[] {
    return this.#parse(`${this.#decoder.decode()}\n\n`);
  }

  #parse(text: string): StreamBlock[] {
    this.#blocks = [];
    const lines = this.#withLineFeeds(text);
    let start = 0;
    for (let end = lines.indexOf('\n\n'); end >= 0; end = lines.indexOf('\n\n', start)) {
      this.#feed(lines.slice(start, end + 1));
      start = end + 1;
    }
    this.#feed(lines.slice(start));
    return this.#blocks;
  }

  /** Removes the byte order mark and replaces CRLF and CR by LF, also where two chunks divide a CRLF. */
  #withLineFeeds(text: string): string {
    if (text === '') return text;
    const isMarked = this.#atStart && text.startsWith('\uFEFF');
    const isDivided = this.#endsInReturn && text.startsWith('\n');
    const rest = isMarked || isDivided ? text.slice(1) : text;
    this.#atStart = false;
    this.#endsInReturn = text.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest;
  }

  /** Parses lines that contain a blank line at most at their start. */
  #feed(lines: string): void {
    if (lines === '') return;
    if (this.#endsInLineFeed && lines.startsWith('\n')) {
      this.#lastId = lastIdIn(this.#unfinished) ?? this.#lastId;
      this.#unfinished = '';
    }
    this.#unfinished += lines;
    this.#endsInLineFeed = lines.endsWith('\n');
    this.#parser.feed(lines);
  }
}

/** Yields the events of a stream in order, without comments. Discards an unfinished last event. */
export async function* streamEvents(
  chunks: AsyncIterable<Uint8Array>,
  parser: EventStreamParser,
): AsyncGenerator<StreamEvent> {
  for await (const chunk of chunks) {
    for (const block of parser.push(chunk)) if ('data' in block) yield block;
  }
}
