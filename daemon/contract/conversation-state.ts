import { z } from 'zod';
import { COMPUTED_REASONS, type ComputedReason } from './conversation-reasons.ts';

const REASONS = Object.keys(COMPUTED_REASONS) as [ComputedReason, ...ComputedReason[]];

/** What happened to the beginning of the conversation of one request (docs/spec/contract.md#kv-cache). */
export const ConversationState = z.object({
  /** `restored` from a saved state, `reused` from the memory of the engine, or `computed` again. */
  outcome: z.enum(['restored', 'reused', 'computed']),
  /** Tokens of the prompt that were not computed again. */
  tokens: z.int().min(0),
  /** Where a restored state was saved; null for the others. */
  from: z.enum(['memory', 'disk']).nullable(),
  /** Why it was computed; null for the others. */
  reason: z.enum(REASONS).nullable(),
});
export type ConversationState = z.infer<typeof ConversationState>;

/** The saved conversations of a chat slot. */
export const SlotConversations = z.object({
  /** Where they are saved when the slot is unloaded; null when they are not. */
  from: z.enum(['memory', 'disk']).nullable(),
  /** Why they are not saved, as a sentence; null when they are. */
  reason: z.string().nullable(),
});
export type SlotConversations = z.infer<typeof SlotConversations>;

/** A shorter conversation is read again faster than its state is handled. */
export const MIN_STATE_TOKENS = 256;
/** A prompt shares at least so many tokens with what an engine holds, or half of itself, when it is reused. */
const MIN_REUSED_TOKENS = 128;

/**
 * Returns what happens to a prompt without a saved state. `held`: the tokens of it that the engine still has. `reason`
 * applies when they are too few.
 */
export const withoutState = (
  held: number,
  promptTokens: number,
  reason: ComputedReason,
): ConversationState =>
  held >= Math.min(MIN_REUSED_TOKENS, promptTokens / 2)
    ? { outcome: 'reused', tokens: held, from: null, reason: null }
    : { outcome: 'computed', tokens: held, from: null, reason };

/** Returns what a slot whose engine reports only its reused tokens did with a conversation. */
export function reportedConversation(
  { cachedTokens, promptTokens }: { cachedTokens: number; promptTokens: number },
  slot: SlotConversations,
): ConversationState {
  const whenSaved = promptTokens < MIN_STATE_TOKENS ? 'too_short' : 'no_saved_prefix';
  return withoutState(cachedTokens, promptTokens, slot.from === null ? 'not_configured' : whenSaved);
}

/** Returns the value of the header: an item with parameters (RFC 9651). */
export function conversationHeader({ outcome, tokens, from, reason }: ConversationState): string {
  const parts = [outcome, `tokens=${tokens}`];
  if (from !== null) parts.push(`from=${from}`);
  if (reason !== null) parts.push(`reason=${reason}`);
  return parts.join('; ');
}

/** Reads the header of an engine; null when it has another form. */
export function readConversationHeader(value: unknown): ConversationState | null {
  if (typeof value !== 'string') return null;
  const [outcome, ...rest] = value.split(';').map((part) => part.trim());
  const fields = Object.fromEntries(rest.map((part) => part.split('=', 2)));
  const { tokens, from = null, reason = null } = fields;
  return ConversationState.safeParse({ outcome, tokens: Number(tokens), from, reason }).data ?? null;
}
