/** Counters of a generation. Times are in milliseconds. */
export interface Counts {
  promptTokens: number;
  /** Prompt tokens reused from an earlier request. */
  cachedTokens: number;
  /** Generated tokens, including the end token. */
  completionTokens: number;
  promptMs: number;
  predictedMs: number;
}

export const NO_COUNTS: Counts = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  promptMs: 0,
  predictedMs: 0,
};

/** Adds the counts of two choices. `samePrompt`: the second reads the same prompt again, which counts once. */
export function addCounts(a: Counts, b: Counts, samePrompt: boolean): Counts {
  return {
    promptTokens: a.promptTokens + (samePrompt ? 0 : b.promptTokens),
    cachedTokens: a.cachedTokens + (samePrompt ? 0 : b.cachedTokens),
    completionTokens: a.completionTokens + b.completionTokens,
    promptMs: a.promptMs + b.promptMs,
    predictedMs: a.predictedMs + b.predictedMs,
  };
}

/** OpenAI's `usage`. */
export function usage(counts: Counts): object {
  return {
    prompt_tokens: counts.promptTokens,
    completion_tokens: counts.completionTokens,
    total_tokens: counts.promptTokens + counts.completionTokens,
    prompt_tokens_details: { cached_tokens: counts.cachedTokens },
  };
}

/** Rates in llama-server's format; 0 when nothing was measured. */
export function timings(counts: Counts): object {
  const promptTokens = counts.promptTokens - counts.cachedTokens;
  const { completionTokens, promptMs, predictedMs } = counts;
  const each = (ms: number, tokens: number) => (tokens > 0 ? ms / tokens : 0);
  const rate = (ms: number, tokens: number) => (ms > 0 ? (1000 * tokens) / ms : 0);
  return {
    cache_n: counts.cachedTokens,
    prompt_n: promptTokens,
    prompt_ms: promptMs,
    prompt_per_token_ms: each(promptMs, promptTokens),
    prompt_per_second: rate(promptMs, promptTokens),
    predicted_n: completionTokens,
    predicted_ms: predictedMs,
    predicted_per_token_ms: each(predictedMs, completionTokens),
    predicted_per_second: rate(predictedMs, completionTokens),
  };
}
