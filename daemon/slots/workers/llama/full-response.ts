import type { WholeChoice } from './chat-response.ts';
import type { AnswerEvent } from './choices.ts';
import type { TokenLogprob } from './logprobs.ts';
import type { CallKind, Piece } from './tools/pieces.ts';
import type { Counts } from './usage.ts';

/** Collects an answer. Null when the caller disconnected before its end. */
export async function wholeAnswer(
  answer: AsyncIterable<AnswerEvent>,
): Promise<{ choices: WholeChoice[]; counts: Counts } | null> {
  const choices: WholeChoice[] = [];
  let open = new OpenChoice();
  for await (const event of answer) {
    if (event.type === 'pieces') open.add(event);
    else if (event.type === 'choice') {
      choices.push(open.close(event));
      open = new OpenChoice();
    } else if (event.type === 'done') return { choices, counts: event.counts };
  }
  return null;
}

class OpenChoice {
  readonly #text: string[] = [];
  readonly #reasoning: string[] = [];
  readonly #calls: { id: string; name: string; kind: CallKind | undefined; parts: string[] }[] = [];
  #logprobs: TokenLogprob[] | null = null;

  add({ pieces, logprobs }: AnswerEvent & { type: 'pieces' }): void {
    if (logprobs !== null) {
      this.#logprobs ??= [];
      this.#logprobs.push(...logprobs);
    }
    for (const piece of pieces) {
      if (piece.type === 'text') this.#text.push(piece.text);
      else if (piece.type === 'reasoning') this.#reasoning.push(piece.text);
      else if (piece.type === 'call') this.#addCall(piece);
      else this.#calls[piece.index]?.parts.push(piece.text);
    }
  }

  #addCall({ id, name, kind }: Piece & { type: 'call' }): void {
    this.#calls.push({ id, name, kind, parts: [] });
  }

  close({ choice, finish, stop }: AnswerEvent & { type: 'choice' }): WholeChoice {
    return {
      index: choice,
      text: this.#text.join(''),
      reasoning: this.#reasoning.join(''),
      calls: this.#calls.map(({ parts, kind, ...call }) => ({
        ...call,
        arguments: parts.join(''),
        ...(kind === undefined ? {} : { kind }),
      })),
      logprobs: this.#logprobs,
      finish,
      ...(stop === undefined ? {} : { stop }),
    };
  }
}
