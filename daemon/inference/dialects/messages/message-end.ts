import type { Json } from '../json.ts';
import type { ChatUsage, Piece } from '../piece.ts';

/** Anthropic's stop reasons for finish reasons of a chat; any other is an ended turn. */
const REASONS: Readonly<Record<string, string>> = {
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/**
 * Returns `stop_reason` and `stop_sequence`. `called` means that the response contains a call, which some
 * engines end with a plain stop.
 */
export function stopOf(finish: (Piece & { type: 'finish' }) | null, called: boolean): Json {
  if (finish?.stop) return { stop_reason: 'stop_sequence', stop_sequence: finish.stop };
  const known = REASONS[finish?.reason ?? ''];
  return { stop_reason: known ?? (called ? 'tool_use' : 'end_turn'), stop_sequence: null };
}

/** Anthropic counts cached input tokens separately. */
export const usageOf = (usage: ChatUsage | null): Json => ({
  input_tokens: (usage?.input ?? 0) - (usage?.cached ?? 0),
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage?.cached ?? 0,
  output_tokens: usage?.output ?? 0,
});
