import { Refusal } from '../refusal.ts';

/**
 * Throws for a text that exceeds the window. The message has the numbers and llama-server's wording; `place`
 * names the text.
 */
export function refuseTooLong(place: string, tokens: number, window: number): void {
  if (tokens <= window) return;
  throw new Refusal(
    'context_length_exceeded',
    `${place}: request (${tokens} tokens) exceeds the available context size (${window} tokens), try increasing it`,
    { param: place.split('[', 1)[0], extra: { n_prompt_tokens: tokens, n_ctx: window } },
  );
}
