/** Texts about saved conversations, for svcctl and the dashboard too: without zod. */
import { COMPUTED_REASONS } from './conversation-reasons.ts';
import type { ConversationState, SlotConversations } from './conversation-state.ts';

/** Returns what happened to the conversation of a request, as a sentence. */
export function conversationText({ outcome, tokens, from, reason }: ConversationState): string {
  if (outcome === 'restored') return `Restored ${tokens} tokens from ${from ?? 'a saved state'}.`;
  if (outcome === 'reused') return `Reused ${tokens} tokens that the engine still held.`;
  return `Computed: ${COMPUTED_REASONS[reason ?? 'no_saved_prefix']}.`;
}

/** Returns whether a slot saves its conversations, as a sentence. */
export function slotConversationsText({ from, reason }: SlotConversations, saved: number): string {
  if (from === null) return `Conversations are not saved: ${reason}`;
  const states = saved === 1 ? '1 conversation is' : `${saved} conversations are`;
  return `${states} saved ${from === 'disk' ? 'on disk' : 'in memory'}. A request that continues one restores it.`;
}
