import { sseEvent } from '../../lib/net/sse.ts';
import { ChatPieces, type KeepExtra } from './chat-pieces.ts';
import type { Events } from './dialect.ts';
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
export interface OwnEvents<S extends PieceStream> {
  make(tell: (event: string, data: Json) => void): S;
  /** The text of a sign of life; empty when the stream tells one as an event. */
  idle(stream: S): string;
  fail(stream: S, error: Json): void;
}

/** The events of one streamed answer: what the dialect's stream tells of each piece of the chat. `keep`: see `ChatPieces`. */
export function toldEvents<S extends PieceStream>(
  { make, idle, fail }: OwnEvents<S>,
  keep?: KeepExtra,
): Events {
  const pieces = new ChatPieces(keep);
  let text = '';
  const stream = make((event, data) => {
    text += sseEvent({ event, data: JSON.stringify(data) });
  });
  const told = (work: () => unknown): string => {
    work();
    const out = text;
    text = '';
    return out;
  };
  return {
    get finished() {
      return stream.finished;
    },
    open: () => told(() => stream.begin()),
    chunk: (chat) =>
      told(() => {
        for (const piece of pieces.read(chat)) stream.add(piece);
      }),
    idle: () => {
      const comment = idle(stream);
      return told(() => undefined) + comment;
    },
    end: () => told(() => stream.end()),
    fail: (error) => told(() => fail(stream, error)),
  };
}
