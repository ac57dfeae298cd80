import { withReminders } from '../../slots/later-system.ts';
import type { Json } from '../dialects/json.ts';
import { isSystem } from '../dialects/system-position.ts';
import { textOnlyOf } from '../dialects/text-only.ts';
import type { BodyContext, BodyRule } from './body-rule.ts';
import { type Edit, NO_EDITS, remove, replace } from './edits.ts';
import { restoreReasoning } from './restore-reasoning.ts';

/**
 * Adapts the messages of a translated chat to the target: reasoning, images that it cannot read, and system
 * messages after the first turn (docs/spec/contract.md#dialects). A chat that is not translated stays
 * unchanged.
 */
export const translatedHistory: BodyRule = (context) => {
  const { index, history } = context;
  if (history === undefined) return NO_EDITS;
  const { messages } = history;
  const own = messages.map((message) => adaptedMessage(message, context));
  const adapted = context.takesLaterSystem ? own : withReminders(own);
  return messages.flatMap((message, at): Edit[] => {
    const place = index.messages[at];
    const made = adapted[at];
    if (place === undefined || made === undefined || made === message) return [];
    return [made === null ? remove('messages', place) : replace(place.value, JSON.stringify(made))];
  });
};

/** Returns null for a message that is left out. */
function adaptedMessage(message: Json, context: BodyContext): Json | null {
  // Only providers know the role `developer`.
  if (isSystem(message))
    return context.local && message.role !== 'system' ? { ...message, role: 'system' } : message;
  const made = restoreReasoning(message, context);
  const plain = textOnlyOf(message);
  if (made === null || plain === undefined || context.media?.() !== 'text') return made;
  context.ignore?.('image');
  return plain === null ? null : { ...made, content: plain.content };
}
