import type { Finish } from './chat-response.ts';
import type { EngineEvent, PromptJob } from './engine.ts';
import type { TokenLogprob } from './logprobs.ts';
import { AnswerReader, type ReadOptions } from './response-reader.ts';
import type { CallStyle, Piece } from './tools/pieces.ts';
import { addCounts, type Counts, NO_COUNTS } from './usage.ts';

/** The events of an answer as clients see them. Choices follow one another. `done` is last. */
export type AnswerEvent =
  | { type: 'started' }
  | { type: 'progress' }
  | { type: 'pieces'; choice: number; pieces: Piece[]; logprobs: TokenLogprob[] | null }
  /**
   * `counts` belongs to this choice. The last choice has the totals, because many clients read only the last
   * chunk.
   */
  | { type: 'choice'; choice: number; finish: Finish; counts: Counts; stop?: string }
  | { type: 'done'; counts: Counts };

/** The prompts of one request, which share all settings. */
export interface AnswerJob extends Omit<PromptJob, 'tokens' | 'isComplete'> {
  prompts: readonly (readonly number[])[];
  readOptions: ReadOptions;
  /** How calls are written; absent for tool calls of functions. */
  callStyle?: CallStyle;
  /** Keywords of schemas that the grammar does not enforce, as `FIELD.KEYWORD`. */
  relaxed: readonly string[];
  /** Text at the start of each prompt's choices. */
  echoes: readonly string[] | null;
}

export type AnswerPrompt = (order: PromptJob, signal: AbortSignal) => AsyncGenerator<EngineEvent>;

/** Answers all prompts with `n` choices each. The choices of prompt p start at number p times n. */
export async function* answerChoices(
  answer: AnswerPrompt,
  job: AnswerJob,
  signal: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const last = job.prompts.length * job.n - 1;
  let total = NO_COUNTS;
  for (const [p, tokens] of job.prompts.entries()) {
    let reader = new AnswerReader(job.readOptions);
    let echo = job.echoes?.[p] ?? '';
    const order: PromptJob = { ...job, tokens, isComplete: () => reader.isComplete };
    for await (const event of answer(order, signal)) {
      if (event.type === 'started' || event.type === 'progress') {
        if (p === 0 || event.type === 'progress') yield { type: event.type };
        continue;
      }
      const choice = p * job.n + event.choice;
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
      reader = new AnswerReader(job.readOptions);
      echo = job.echoes?.[p] ?? '';
    }
    if (signal.aborted) return;
  }
  yield { type: 'done', counts: total };
}
