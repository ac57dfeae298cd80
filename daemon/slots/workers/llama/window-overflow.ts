import type { WorkerInfo } from '../protocol.ts';
import { invalidField, Refusal } from '../refusal.ts';

/** The window of a loaded model, and the one that it was trained for, if known. */
export type Window = Pick<WorkerInfo, 'context' | 'contextTrain'>;

/**
 * Returns the refusal of a text that exceeds the window. It has the numbers and llama-server's wording, which clients
 * recognise to shorten the prompt. A window that the model was trained for cannot be increased.
 */
function overflow(param: string, tokens: number, { context, contextTrain }: Window, place = ''): Refusal {
  const isLargest = contextTrain !== null && context >= contextTrain;
  const next = isLargest ? `which is the maximum of this model: send a shorter text` : 'try increasing it';
  return new Refusal(
    'context_length_exceeded',
    `${place}request (${tokens} tokens) exceeds the available context size (${context} tokens), ${next}`,
    { param, extra: { n_prompt_tokens: tokens, n_ctx: context } },
  );
}

/** Throws for a prompt that leaves no space for an answer. */
export function refuseOverflow(tokens: number, window: Window, param: string): void {
  if (tokens === 0) throw invalidField(param, 'The prompt is empty.');
  if (tokens >= window.context) throw overflow(param, tokens, window);
}

/** Throws for a text that exceeds the window of a model without an answer. `place` names the text. */
export function refuseTooLong(place: string, tokens: number, window: Window): void {
  if (tokens > window.context) throw overflow(place.split('[', 1)[0] ?? place, tokens, window, `${place}: `);
}
