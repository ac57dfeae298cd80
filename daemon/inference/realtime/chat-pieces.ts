import { ChatPieces } from '../dialects/chat-pieces.ts';
import type { Piece } from '../dialects/piece.ts';
import type { Tokens } from './stage-types.ts';

/** The content of one chunk of a streamed chat. */
export type ChatPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly name: string; readonly arguments: string }
  | { readonly kind: 'finish'; readonly reason: string }
  | { readonly kind: 'tokens'; readonly tokens: Tokens };

/** Reads the chunks of one response; skips reasoning. Never throws. */
export class SpokenPieces {
  readonly #pieces = new ChatPieces();

  read(event: Record<string, unknown>): ChatPiece[] {
    return this.#pieces.read(event).flatMap(toChatPieces);
  }

  /** Returns the pieces that were held, at the end of the stream. */
  end(): ChatPiece[] {
    return this.#pieces.end().flatMap(toChatPieces);
  }
}

function toChatPieces(piece: Piece): ChatPiece[] {
  switch (piece.type) {
    case 'text':
      return [{ kind: 'text', text: piece.text }];
    case 'call':
      return [{ kind: 'call', index: piece.index, name: piece.name, arguments: '' }];
    case 'arguments':
      return [{ kind: 'call', index: piece.index, name: '', arguments: piece.text }];
    case 'finish':
      return [{ kind: 'finish', reason: piece.reason }];
    case 'usage':
      return [{ kind: 'tokens', tokens: { input: piece.usage.input, output: piece.usage.output } }];
    default:
      return [];
  }
}
