import type { AnswerEvent } from '../choices.ts';
import type { CallKind, CallStyle, Piece } from './pieces.ts';

/** Writes the calls of an answer in the style of its tools. The input of a custom tool is one piece. */
export async function* styledCalls(
  answer: AsyncGenerator<AnswerEvent>,
  style: CallStyle = { legacy: false, custom: new Set() },
): AsyncGenerator<AnswerEvent> {
  if (!style.legacy && style.custom.size === 0) return yield* answer;
  let calls = new StyledCalls(style);
  for await (const event of answer) {
    if (event.type === 'pieces') {
      const pieces = event.pieces.flatMap((piece) => calls.push(piece));
      if (pieces.length > 0 || event.logprobs !== null) yield { ...event, pieces };
    } else if (event.type === 'choice') {
      const pieces = calls.end();
      if (pieces.length > 0) yield { type: 'pieces', choice: event.choice, pieces, logprobs: null };
      const isLegacyCall = style.legacy && event.finish === 'tool_calls';
      yield isLegacyCall ? { ...event, finish: 'function_call' } : event;
      calls = new StyledCalls(style);
    } else yield event;
  }
}

/** The calls of one choice. */
class StyledCalls {
  readonly #style: CallStyle;
  /** The call whose arguments arrive. */
  #kind: CallKind = 'function';
  /** The arguments of a custom tool; null for another call. */
  #held: { index: number; text: string } | null = null;

  constructor(style: CallStyle) {
    this.#style = style;
  }

  push(piece: Piece): Piece[] {
    if (piece.type === 'call') {
      const before = this.end();
      const { legacy, custom } = this.#style;
      this.#kind = legacy ? 'legacy' : custom.has(piece.name) ? 'custom' : 'function';
      if (this.#kind === 'custom') this.#held = { index: piece.index, text: '' };
      return [...before, { ...piece, kind: this.#kind }];
    }
    if (piece.type !== 'arguments') return [piece];
    if (this.#held === null) return [{ ...piece, kind: this.#kind }];
    this.#held.text += piece.text;
    return [];
  }

  end(): Piece[] {
    const held = this.#held;
    this.#held = null;
    if (held === null) return [];
    return [{ type: 'arguments', index: held.index, text: inputOf(held.text), kind: 'custom' }];
  }
}

/** Returns the text in `{"input": "…"}`, also of an object that ends too early. */
function inputOf(text: string): string {
  for (const end of ['', '"}', '}'])
    try {
      const value: unknown = JSON.parse(text + end);
      if (typeof value !== 'object' || value === null) return text;
      const { input } = value as { input?: unknown };
      return typeof input === 'string' ? input : input === undefined ? '' : JSON.stringify(input);
    } catch {}
  return text;
}
