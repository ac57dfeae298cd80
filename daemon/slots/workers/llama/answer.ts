import type { ToolCall } from './tool-calls.ts';

/** What a generation has counted. Milliseconds for times. */
export interface Counts {
  promptTokens: number;
  /** Prompt tokens taken over from an earlier request. */
  cachedTokens: number;
  /** Tokens generated, the end token included. */
  completionTokens: number;
  promptMs: number;
  predictedMs: number;
}

export type Finish = 'stop' | 'length' | 'tool_calls';

/** What all chunks of one answer have in common. */
export interface AnswerHead {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
}

export interface ChatDelta {
  role?: 'assistant';
  content?: string;
  tool_calls?: (ToolCall & { index: number })[];
}

/** The two dialects of one answer: whole, and in chunks. */
export interface Dialect {
  /** First chunk, or null where the dialect has none. */
  opening(head: AnswerHead): object | null;
  text(head: AnswerHead, text: string): object;
  toolCall(head: AnswerHead, call: ToolCall, index: number): object;
  finish(head: AnswerHead, finish: Finish, counts: Counts): object;
  usage(head: AnswerHead, counts: Counts): object;
  whole(
    head: AnswerHead,
    answer: { text: string; calls: ToolCall[]; finish: Finish; counts: Counts },
  ): object;
}

const chatChunk = (head: AnswerHead, delta: ChatDelta, finish: Finish | null = null): object => ({
  ...chunk(head, 'chat.completion.chunk'),
  choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
});

const textChunk = (head: AnswerHead, text: string, finish: Finish | null = null): object => ({
  ...chunk(head, 'text_completion'),
  choices: [{ index: 0, text, finish_reason: finish, logprobs: null }],
});

const chunk = (head: AnswerHead, object: string): object => ({
  id: head.id,
  object,
  created: head.created,
  model: head.model,
});

/** `POST /v1/chat/completions`. */
export const CHAT: Dialect = {
  opening: (head) => chatChunk(head, { role: 'assistant', content: '' }),
  text: (head, content) => chatChunk(head, { content }),
  toolCall: (head, call, index) => chatChunk(head, { tool_calls: [{ index, ...call }] }),
  finish: (head, finish, counts) => ({ ...chatChunk(head, {}, finish), timings: timings(counts) }),
  usage: (head, counts) => usageChunk(head, 'chat.completion.chunk', counts),
  whole: (head, { text, calls, finish, counts }) => ({
    ...chunk(head, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: calls.length > 0 && text.trim() === '' ? null : text,
          refusal: null,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        finish_reason: finish,
        logprobs: null,
      },
    ],
    usage: usage(counts),
    timings: timings(counts),
  }),
};

/** `POST /v1/completions`, which knows no tools. */
export const COMPLETION: Dialect = {
  opening: () => null,
  text: (head, text) => textChunk(head, text),
  toolCall: (head, call) => textChunk(head, call.function.arguments),
  finish: (head, finish, counts) => ({ ...textChunk(head, '', finish), timings: timings(counts) }),
  usage: (head, counts) => usageChunk(head, 'text_completion', counts),
  whole: (head, { text, finish, counts }) => ({
    ...chunk(head, 'text_completion'),
    choices: [{ index: 0, text, finish_reason: finish, logprobs: null }],
    usage: usage(counts),
    timings: timings(counts),
  }),
};

function usageChunk(head: AnswerHead, object: string, counts: Counts): object {
  return { ...chunk(head, object), choices: [], usage: usage(counts), timings: timings(counts) };
}

function usage(counts: Counts): object {
  return {
    prompt_tokens: counts.promptTokens,
    completion_tokens: counts.completionTokens,
    total_tokens: counts.promptTokens + counts.completionTokens,
    prompt_tokens_details: { cached_tokens: counts.cachedTokens },
  };
}

/** Rates as llama-server states them; 0 where nothing was measured. */
function timings(counts: Counts): object {
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
