import { sseEvent } from '../../kit/sse.ts';
import { ChatPieces } from './chat-pieces.ts';
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

/** The message about an engine whose stream stops before its end. */
export const ENDED_EARLY = 'The engine ended its answer early.';

/**
 * The events of one streamed answer: what the dialect's stream tells of each piece of the chat. `early` is the error of a
 * chat that stops before its end.
 */
export function toldEvents<S extends PieceStream>({ make, idle, fail }: OwnEvents<S>, early: Json): Events {
  const pieces = new ChatPieces();
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
    open: () => told(() => stream.begin()),
    chunk: (chat) =>
      told(() => {
        for (const piece of pieces.read(chat)) stream.add(piece);
      }),
    idle: () => {
      const comment = idle(stream);
      return told(() => undefined) + comment;
    },
    end: (complete) =>
      told(() => {
        if (complete || stream.finished) stream.end();
        else fail(stream, early);
      }),
    fail: (error) => told(() => fail(stream, error)),
  };
}
