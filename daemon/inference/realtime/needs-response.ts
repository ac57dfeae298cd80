import { type Item, isEmpty } from './items.ts';
import type { SessionState } from './step.ts';

type Conversation = Pick<SessionState, 'items' | 'pendingTurns' | 'dismissedItemId'>;

/**
 * Returns whether a conversation needs a response: one of the pending turns has content, or the last input
 * after the dismissed item has no output after it. Items without content and interrupted calls count as
 * neither. Pure.
 */
export function needsResponse({ items, pendingTurns, dismissedItemId }: Conversation): boolean {
  if (items.some((item) => pendingTurns.includes(item.id) && isInput(item))) return true;
  const since = items.slice(items.findIndex(({ id }) => id === dismissedItemId) + 1);
  const last = since.findLast((item) => isInput(item) || isOutput(item));
  return last !== undefined && isInput(last);
}

function isInput(item: Item): boolean {
  if (item.type === 'message') return item.role === 'user' && !isEmpty(item);
  return item.type === 'function_call_output';
}

function isOutput(item: Item): boolean {
  if (item.type === 'message') return item.role === 'assistant' && !isEmpty(item);
  return item.type === 'function_call' && item.status === 'completed';
}
