import type { Finish } from './answer.ts';
import { AnswerReader, type Reading } from './answer-reader.ts';
import type { EngineEvent, Order } from './engine.ts';
import type { TokenLogprob } from './logprobs.ts';
import type { Piece } from './tools/pieces.ts';
import { addCounts, type Counts, NO_COUNTS } from './usage.ts';

/** The events of an answer as clients see them. Choices come one after the other; `done` comes last. */
export type AnswerEvent =
  | { type: 'started' }
  | { type: 'progress' }
  | { type: 'pieces'; choice: number; pieces: Piece[]; logprobs: TokenLogprob[] | null }
  /** `counts`: of this choice; of the last one: of all, because many readers look at the last chunk alone. */
  | { type: 'choice'; choice: number; finish: Finish; counts: Counts; stop?: string }
  | { type: 'done'; counts: Counts };

/** The prompts of one request, all answered the same way. */
export interface Orders extends Omit<Order, 'tokens' | 'full'> {
  prompts: readonly (readonly number[])[];
  reading: Reading;
  /** Text that the choices of each prompt begin with. */
  echoes: readonly string[] | null;
}

export type AnswerPrompt = (order: Order, signal: AbortSignal) => AsyncGenerator<EngineEvent>;

/** Answers all prompts, each with `n` choices; the choices of prompt p have the numbers from p times n on. */
export async function* answerChoices(
  answer: AnswerPrompt,
  orders: Orders,
  signal: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const last = orders.prompts.length * orders.n - 1;
  let total = NO_COUNTS;
  for (const [p, tokens] of orders.prompts.entries()) {
    let reader = new AnswerReader(orders.reading);
    let echo = orders.echoes?.[p] ?? '';
    const order: Order = { ...orders, tokens, full: () => reader.full };
    for await (const event of answer(order, signal)) {
      if (event.type === 'started' || event.type === 'progress') {
        if (p === 0 || event.type === 'progress') yield { type: event.type };
        continue;
      }
      const choice = p * orders.n + event.choice;
      if (echo !== '') {
        yield { type: 'pieces', choice, pieces: [{ type: 'text', text: echo }], logprobs: null };
        echo = '';
      }
      if (event.type === 'text') {
        const pieces = event.text === '' ? [] : reader.push(event.text);
        if (pieces.length > 0 || event.logprobs !== null)
          yield { type: 'pieces', choice, pieces, logprobs: event.logprobs };
        continue;
      }
      const pieces = reader.end();
      if (pieces.length > 0) yield { type: 'pieces', choice, pieces, logprobs: null };
      const finish = reader.count > 0 && event.finish === 'stop' ? 'tool_calls' : event.finish;
      const stop = finish === 'stop' && event.stop !== undefined ? { stop: event.stop } : {};
      total = addCounts(total, event.counts, event.choice > 0);
      const counts = choice === last ? total : event.counts;
      yield { type: 'choice', choice, finish, counts, ...stop };
      reader = new AnswerReader(orders.reading);
      echo = orders.echoes?.[p] ?? '';
    }
    if (signal.aborted) return;
  }
  yield { type: 'done', counts: total };
}
