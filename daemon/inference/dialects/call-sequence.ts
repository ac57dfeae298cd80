import { GatewayError } from '../../contract/errors.ts';
import { ObjectProgress } from './object-progress.ts';
import type { Piece, TextKind } from './piece.ts';

/** Maximum characters that wait for an earlier call. */
const MAX_WAITING = 32 * 1024 * 1024;

type CallPiece = Piece & { readonly type: 'call' };
type TextPiece = Piece & { readonly type: TextKind };

/** A call, or a text, that arrived while an earlier call was open. */
type Waiting =
  | { readonly call: CallPiece; text: string; readonly progress: ObjectProgress }
  | { readonly call: null; readonly first: TextPiece; text: string };

/**
 * Puts the pieces of a stream into an order in which each call ends before the next output begins, as the
 * streams of the Messages and Responses APIs require. Holds what arrives while a call is open until its
 * arguments are a complete object, or until the response ends.
 */
export class CallSequence {
  #open: { readonly index: number; readonly progress: ObjectProgress } | null = null;
  #waiting: Waiting[] = [];
  #waitingLength = 0;

  /** Returns the pieces that can be emitted now. Throws `upstream.error` for a response above the limit. */
  push(piece: Piece): Piece[] {
    if (piece.type === 'usage') return [piece];
    if (piece.type === 'finish') return [...this.end(), piece];
    if (piece.type === 'arguments') return this.#arguments(piece);
    if (piece.type === 'call') return this.#add({ call: piece, text: '', progress: new ObjectProgress() });
    return this.#text(piece);
  }

  /** Returns the pieces that are still held, at the end of the response. */
  end(): Piece[] {
    const rest = this.#waiting.flatMap((waiting) => this.#emit(waiting));
    this.#waiting = [];
    return rest;
  }

  #arguments(piece: Piece & { readonly type: 'arguments' }): Piece[] {
    if (this.#open?.index === piece.index) {
      this.#open.progress.push(piece.text);
      return [piece, ...this.#emitReady()];
    }
    const waiting = this.#waiting.find(({ call }) => call?.index === piece.index);
    if (waiting === undefined || waiting.call === null) {
      if (piece.text.trim() === '') return [];
      throw new GatewayError('upstream.error', {
        message: 'The engine continued a tool call whose arguments were complete.',
      });
    }
    this.#hold(waiting, piece.text);
    waiting.progress.push(piece.text);
    return [];
  }

  #text(piece: TextPiece): Piece[] {
    const last = this.#waiting.at(-1);
    if (last === undefined || last.call !== null || !isSameRun(last.first, piece))
      return this.#add({ call: null, first: piece, text: piece.text });
    this.#hold(last, piece.text);
    return [];
  }

  #add(waiting: Waiting): Piece[] {
    this.#waiting.push(waiting);
    this.#count(waiting.text);
    return this.#emitReady();
  }

  /** Emits held output for as long as no call is incomplete. */
  #emitReady(): Piece[] {
    const ready: Piece[] = [];
    while (this.#open === null || this.#open.progress.isComplete) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      ready.push(...this.#emit(next));
    }
    return ready;
  }

  #emit(waiting: Waiting): Piece[] {
    this.#waitingLength -= waiting.text.length;
    if (waiting.call === null) {
      this.#open = null;
      return [{ ...waiting.first, text: waiting.text }];
    }
    const { call, text, progress } = waiting;
    this.#open = { index: call.index, progress };
    return text === '' ? [call] : [call, { type: 'arguments', index: call.index, text }];
  }

  #hold(waiting: Waiting, text: string): void {
    waiting.text += text;
    this.#count(text);
  }

  #count(text: string): void {
    this.#waitingLength += text.length;
    if (this.#waitingLength > MAX_WAITING)
      throw new GatewayError('upstream.error', { message: 'The answer is too long.' });
  }
}

const isSameRun = (first: TextPiece, next: TextPiece): boolean =>
  first.type === next.type && first.field === next.field;
