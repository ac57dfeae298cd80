import { type Item, isEmpty } from './items.ts';
import type { SessionState } from './step.ts';

type Conversation = Pick<SessionState, 'items' | 'owed' | 'dismissed'>;

/**
 * Whether a conversation waits for the model: one of the `owed` turns says something, or nothing has answered the last of
 * what was said or worked out for it behind the `dismissed` item. What says nothing, a cut call included, neither asks nor
 * answers. Pure.
 */
export function unanswered({ items, owed, dismissed }: Conversation): boolean {
  if (items.some((item) => owed.includes(item.id) && asks(item))) return true;
  const since = items.slice(items.findIndex(({ id }) => id === dismissed) + 1);
  const last = since.findLast((item) => asks(item) || answers(item));
  return last !== undefined && asks(last);
}

function asks(item: Item): boolean {
  if (item.type === 'message') return item.role === 'user' && !isEmpty(item);
  return item.type === 'function_call_output';
}

function answers(item: Item): boolean {
  if (item.type === 'message') return item.role === 'assistant' && !isEmpty(item);
  return item.type === 'function_call' && item.status === 'completed';
}
