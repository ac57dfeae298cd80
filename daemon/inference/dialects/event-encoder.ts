import { sseEvent } from '../../lib/net/sse.ts';
import type { KeepExtra } from './call-fragments.ts';
import { CallSequence } from './call-sequence.ts';
import { ChatPieces } from './chat-pieces.ts';
import type { EventEncoder } from './dialect.ts';
import type { Json } from './json.ts';
import type { Piece } from './piece.ts';

/**
 * Builds a stream of this dialect from chat pieces. Emits its events through the function that it was created
 * with.
 */
export interface PieceStream {
  /** The end of the response has arrived. */
  readonly finished: boolean;
  begin(): void;
  add(piece: Piece): void;
  end(): unknown;
}

/** The dialect's own part of the stream. */
export interface StreamEncoder<S extends PieceStream> {
  make(emit: (event: string, data: Json) => void): S;
  /** Returns the text of a keep-alive; empty when the stream emits one as an event. */
  idle(stream: S): string;
  fail(stream: S, error: Json): void;
}

/**
 * Returns the encoder of one streamed response: the events that the dialect emits for each piece. See
 * `ChatPieces` for `keep`.
 */
export function encodeEvents<S extends PieceStream>(
  { make, idle, fail }: StreamEncoder<S>,
  keep?: KeepExtra,
): EventEncoder {
  const pieces = new ChatPieces(keep);
  const sequence = new CallSequence();
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
        for (const piece of pieces.read(chat).flatMap((each) => sequence.push(each))) stream.add(piece);
      }),
    idle: () => {
      const comment = idle(stream);
      return flush(() => undefined) + comment;
    },
    end: () =>
      flush(() => {
        const rest = pieces.end().flatMap((each) => sequence.push(each));
        for (const piece of [...rest, ...sequence.end()]) stream.add(piece);
        stream.end();
      }),
    fail: (error) => flush(() => fail(stream, error)),
  };
}
