import type { Responder } from '../dialect.ts';
import { asList, type Json } from '../json.ts';
import type { ChatUsage } from '../piece.ts';
import type { Conversation } from './references.ts';

export interface ResponseHead extends Responder {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
}

/** The fields that change between the first and the last event of a response. */
export interface Progress {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly Json[];
  readonly usage: ChatUsage | null;
  /** Why the response is incomplete. */
  readonly reason?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * Returns a `response` object of OpenAI's API, which repeats the request. Nothing is stored for long, so
 * `store` is false.
 */
export function responseObject(head: ResponseHead, body: Conversation, progress: Progress): Json {
  const done = progress.status === 'completed';
  return {
    id: head.id,
    object: 'response',
    created_at: head.created,
    ...(done ? { completed_at: Math.max(head.created, Math.floor(Date.now() / 1000)) } : {}),
    status: progress.status,
    background: false,
    error: progress.error ?? null,
    incomplete_details: progress.reason === undefined ? null : { reason: progress.reason },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model: head.model,
    output: progress.output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    store: false,
    temperature: body.temperature ?? null,
    text: { format: body.text?.format ?? { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: asList(body.tools),
    top_p: body.top_p ?? null,
    truncation: 'disabled',
    ...(progress.usage === null ? {} : { usage: usageOf(progress.usage) }),
  };
}

const usageOf = ({ input, cached, output, reasoning }: ChatUsage): Json => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});
