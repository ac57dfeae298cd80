import { GatewayError } from '../../../contract/errors.ts';
import type { Json } from '../json.ts';
import type { ChatUsage, Piece } from '../piece.ts';
import { reasoningSignature } from '../reasoning-signature.ts';
import type { MessageHead } from './full-message.ts';
import { stopOf, usageOf } from './message-end.ts';

type Emit = (type: string, fields: Json) => void;

interface BlockRow {
  readonly start: Json;
  delta(text: string): Json;
}

/** Texts as blocks; a refusal has no separate block. */
const BLOCKS: Readonly<Record<'text' | 'reasoning', BlockRow>> = {
  text: { start: { type: 'text', text: '' }, delta: (text) => ({ type: 'text_delta', text }) },
  reasoning: {
    start: { type: 'thinking', thinking: '', signature: '' },
    delta: (thinking) => ({ type: 'thinking_delta', thinking }),
  },
};

/** Emits the events of one Anthropic message from chat pieces. Stores no text. */
export class MessageStream {
  readonly #emit: Emit;
  readonly #head: MessageHead;
  #blocks = 0;
  /** The text kind or call index of the open block; null when none is open. */
  #open: 'text' | 'reasoning' | number | null = null;
  /** The signature of the current reasoning. */
  #signature = '';
  #called = false;
  #finish: (Piece & { type: 'finish' }) | null = null;
  #usage: ChatUsage | null = null;

  constructor(head: MessageHead, emit: Emit) {
    this.#head = head;
    this.#emit = emit;
  }

  /** Whether the chat has reported its finish reason. */
  get finished(): boolean {
    return this.#finish !== null;
  }

  /** Token counts follow at the end because they are not known yet. */
  begin(): void {
    const { id, model } = this.#head;
    const ends = { stop_reason: null, stop_sequence: null, usage: usageOf(null) };
    this.#emit('message_start', {
      message: { id, type: 'message', role: 'assistant', model, content: [], ...ends },
    });
    this.ping();
  }

  ping(): void {
    this.#emit('ping', {});
  }

  /** Throws `upstream.error` for calls out of order. */
  add(piece: Piece): void {
    if (piece.type === 'finish') this.#finish = piece;
    else if (piece.type === 'usage') this.#usage = piece.usage;
    else if (piece.type === 'call') this.#call(piece);
    else if (piece.type === 'arguments') this.#arguments(piece);
    else if (piece.type !== 'reasoning') this.#text('text', piece.text);
    else {
      this.#signature = reasoningSignature(this.#head, piece.field);
      this.#text('reasoning', piece.text);
    }
  }

  end(): void {
    this.#close();
    this.#emit('message_delta', { delta: stopOf(this.#finish, this.#called), usage: usageOf(this.#usage) });
    this.#emit('message_stop', {});
  }

  fail(error: Json): void {
    this.#emit('error', { error });
  }

  #call({ index, id, name }: Piece & { type: 'call' }): void {
    this.#called = true;
    this.#start(index, { type: 'tool_use', id, name, input: {} });
  }

  #arguments({ index, text }: Piece & { type: 'arguments' }): void {
    if (this.#open !== index)
      throw new GatewayError('upstream.error', {
        message: 'The engine went back to a call that it had left.',
      });
    this.#delta({ type: 'input_json_delta', partial_json: text });
  }

  #text(kind: 'text' | 'reasoning', text: string): void {
    if (this.#open !== kind) this.#start(kind, BLOCKS[kind].start);
    this.#delta(BLOCKS[kind].delta(text));
  }

  #start(what: 'text' | 'reasoning' | number, content_block: Json): void {
    this.#close();
    this.#open = what;
    this.#emit('content_block_start', { index: this.#blocks, content_block });
  }

  #delta(delta: Json): void {
    this.#emit('content_block_delta', { index: this.#blocks, delta });
  }

  #close(): void {
    if (this.#open === null) return;
    // A reasoning block ends with its signature. Ours only records the origin, because no client verifies it.
    if (this.#open === 'reasoning') this.#delta({ type: 'signature_delta', signature: this.#signature });
    this.#emit('content_block_stop', { index: this.#blocks++ });
    this.#open = null;
  }
}
