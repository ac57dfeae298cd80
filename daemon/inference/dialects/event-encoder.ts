import { sseEvent } from '../../lib/net/sse.ts';
import { ChatPieces, type KeepExtra } from './chat-pieces.ts';
import type { EventEncoder } from './dialect.ts';
import type { Json } from './json.ts';
import type { Piece } from './piece.ts';

/** What a dialect makes of a chat, piece by piece; it tells its events by the function that it was made with. */
export interface PieceStream {
  /** The end of the answer has come. */
  readonly finished: boolean;
  begin(): void;
  add(piece: Piece): void;
  end(): unknown;
}

/** What only the dialect knows of its stream. */
export interface StreamEncoder<S extends PieceStream> {
  make(tell: (event: string, data: Json) => void): S;
  /** The text of a sign of life; empty when the stream tells one as an event. */
  idle(stream: S): string;
  fail(stream: S, error: Json): void;
}

/** The events of one streamed answer: what the dialect's stream tells of each piece of the chat. `keep`: see `ChatPieces`. */
export function encodeEvents<S extends PieceStream>(
  { make, idle, fail }: StreamEncoder<S>,
  keep?: KeepExtra,
): EventEncoder {
  const pieces = new ChatPieces(keep);
  let text = '';
  const stream = make((event, data) => {
    text += sseEvent({ event, data: JSON.stringify(data) });
  });
  const flush = (work: () => unknown): string => {
    work();
    const out = text;
    text = '';
    return out;
  };
  return {
    get finished() {
      return stream.finished;
    },
    open: () => flush(() => stream.begin()),
    chunk: (chat) =>
      flush(() => {
        for (const piece of pieces.read(chat)) stream.add(piece);
      }),
    idle: () => {
      const comment = idle(stream);
      return flush(() => undefined) + comment;
    },
    end: () => flush(() => stream.end()),
    fail: (error) => flush(() => fail(stream, error)),
  };
}
