import { type ThinkingMark, type Thought, thoughtScanner } from './reasoning.ts';
import { callId } from './tools/call-ids.ts';
import type { ToolFamily } from './tools/family.ts';
import type { CallScanner, Piece, ScannedPiece } from './tools/pieces.ts';

/** How to read the text of one answer. */
export interface ReadOptions {
  /** Null leaves reasoning in the text. */
  thoughts: { opened: ThinkingMark | null } | null;
  calls: {
    family: ToolFamily;
    /** Parameters of the callable tools, by tool name. */
    tools: ReadonlyMap<string, unknown>;
    /** False: the answer ends with its first call. */
    parallel: boolean;
  } | null;
}

/** Returns the text unchanged. */
export const PLAIN_TEXT: ReadOptions = { thoughts: null, calls: null };

/** Splits the text of one answer into content, reasoning and tool calls. */
export class AnswerReader {
  readonly #thoughts: ReturnType<typeof thoughtScanner> | null;
  readonly #calls: ReadOptions['calls'];
  readonly #scanner: CallScanner | null;
  #count = 0;
  /** Whitespace that is emitted only when text follows. */
  #space = '';
  #shown = false;
  #isComplete = false;

  constructor({ thoughts, calls }: ReadOptions) {
    this.#thoughts = thoughts === null ? null : thoughtScanner(thoughts.opened);
    this.#calls = calls;
    this.#scanner = calls === null ? null : callScanner(calls);
  }

  /** Number of calls started so far. */
  get count(): number {
    return this.#count;
  }

  /** True once the answer is complete, so that any further text is ignored. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  push(text: string): Piece[] {
    if (this.#thoughts === null && this.#scanner === null) return [{ type: 'text', text }];
    return this.#divide(this.#thoughts === null ? [{ type: 'text', text }] : this.#thoughts.push(text));
  }

  /** Returns the held-back pieces. Call this at the end of the stream. */
  end(): Piece[] {
    const out = this.#divide(this.#thoughts?.end() ?? []);
    if (this.#scanner === null || this.#isComplete) return out;
    for (const found of this.#scanner.end()) this.#take(found, out);
    if (this.#count === 0 && this.#space !== '') out.push({ type: 'text', text: this.#space });
    return out;
  }

  #divide(thoughts: readonly Thought[]): Piece[] {
    if (this.#scanner === null) return [...thoughts] as Piece[];
    const out: Piece[] = [];
    for (const thought of thoughts) {
      if (thought.type === 'reasoning') out.push({ type: 'reasoning', text: thought.text });
      else for (const found of this.#scanner.push(thought.text)) this.#take(found, out);
    }
    return out;
  }

  #take(found: ScannedPiece, out: Piece[]): void {
    if (this.#isComplete) return;
    if (found.type === 'text') {
      this.#words(found.text, out);
      return;
    }
    if (found.type === 'reasoning') {
      out.push(found);
      return;
    }
    this.#space = '';
    if (found.type === 'call') {
      const id = found.id ?? callId(this.#calls?.family.id9 ?? false);
      out.push({ type: 'call', index: this.#count++, id, name: found.name });
      this.#shown = false;
    } else if (found.type === 'arguments') {
      out.push({ type: 'arguments', index: this.#count - 1, text: found.text });
    } else this.#isComplete = this.#calls?.parallel === false;
  }

  /** Emits text without the whitespace that only separates it from a call. */
  #words(text: string, out: Piece[]): void {
    const words = text.trimEnd();
    if (words === '') {
      this.#space += text;
      return;
    }
    const afterCall = this.#count > 0 && !this.#shown;
    out.push({ type: 'text', text: afterCall ? words.trimStart() : this.#space + words });
    this.#space = text.slice(words.length);
    this.#shown = true;
  }
}

/**
 * After a call mark, any name is a call if the request has tools. Without a mark, only an offered name is a
 * call.
 */
function callScanner({ family, tools }: NonNullable<ReadOptions['calls']>): CallScanner {
  const accepts = (name: string): boolean =>
    family.marked ? name !== '' && tools.size > 0 : tools.has(name);
  return family.scanner(accepts, (name) => tools.get(name));
}
