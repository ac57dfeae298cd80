import type { SourcePaths } from './error-paths.ts';
import type { Json } from './json.ts';

/** Whether a message is of the system. */
export const isSystem = ({ role }: Json): boolean => role === 'system' || role === 'developer';

/** Returns how many system messages are at the start of a chat. */
export function leadingSystem(messages: readonly Json[]): number {
  const at = messages.findIndex((message) => !isSystem(message));
  return at < 0 ? messages.length : at;
}

/**
 * Merges the leading system messages of a translated chat (docs/spec/contract.md#dialect-system-messages).
 * Later ones keep their position, so that the prompt before them stays the same in the next request. One
 * between a call and its results follows the results, because engines refuse it there.
 */
export function placeSystemMessages(messages: readonly Json[], places: SourcePaths): Json[] {
  const count = leadingSystem(messages);
  const [first] = messages;
  const rest = afterResults(messages.slice(count));
  if (first === undefined || count < 2) return [...messages.slice(0, count), ...rest];
  const merged = { role: 'system', content: mergedContent(messages.slice(0, count)) };
  const place = places.get(first);
  if (place !== undefined) places.set(merged, place);
  return [merged, ...rest];
}

/** Joins texts by a blank line; if any content is a list, concatenates all parts. */
function mergedContent(messages: readonly Json[]): unknown {
  const contents = messages.map(({ content }) => content);
  if (!contents.some(Array.isArray)) return contents.join('\n\n');
  return contents.flatMap((content) =>
    Array.isArray(content) ? content : [{ type: 'text', text: String(content) }],
  );
}

function afterResults(messages: readonly Json[]): Json[] {
  const out: Json[] = [];
  let held: Json[] = [];
  for (const message of messages) {
    if (isSystem(message)) {
      held.push(message);
      continue;
    }
    if (message.role !== 'tool') {
      for (const each of held) out.push(each);
      held = [];
    }
    out.push(message);
  }
  for (const each of held) out.push(each);
  return out;
}
