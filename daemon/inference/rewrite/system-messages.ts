import type { BodyIndex, Message } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { type Edit, insert, NO_EDITS, remove, replace } from './edits.ts';

type Content = string | readonly unknown[] | null | undefined;

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer';

/**
 * Deviation 6: all `system` and `developer` messages become one `system` message at index 0, in order
 * (docs/spec/specification.md#deviation-system-messages, docs/spec/contract.md#system-messages). A single one
 * elsewhere is moved. One that is already first stays byte-identical, except that `developer` becomes
 * `system` for local engines. Of a message with two roles only the last role counts.
 */
export const systemMessages: BodyRule = ({ index, local, history }) => {
  // The position of system messages in a translated chat is decided by `translatedHistory`.
  if (history !== undefined) return NO_EDITS;
  if (index.messages.every((message) => isInOrder(message, local))) return NO_EDITS;
  const system = index.messages.filter(isSystem);
  const others = index.messages.filter((message) => message.isAmbiguous && !isSystem(message));
  const settled = others.map((message) => replace(message.value, settledText(index, message)));
  return [...settled, ...arranged(index, system, local)];
};

/** Returns whether a message can stay unchanged at its position. */
const isInOrder = (message: Message, local: boolean): boolean =>
  !message.isAmbiguous &&
  (!isSystem(message) || (message.index === 0 && (message.role === 'system' || !local)));

function arranged(index: BodyIndex, system: readonly Message[], local: boolean): Edit[] {
  const [first, ...rest] = system;
  if (!first) return [];
  const text = rest.length > 0 ? mergedText(index, system) : singleText(index, first, local);
  const later = rest.map((message) => remove('messages', message));
  if (first.index > 0) return [remove('messages', first), ...later, insert('messages', text)];
  const unchanged = rest.length === 0 && !first.isAmbiguous && (first.role === 'system' || !local);
  return unchanged ? [] : [replace(first.value, text), ...later];
}

/** Returns the original bytes of one message, with `developer` written as `system` for local engines. */
function singleText(index: BodyIndex, message: Message, local: boolean): string {
  if (message.isAmbiguous) {
    const settled = JSON.parse(settledText(index, message)) as Record<string, unknown>;
    return JSON.stringify(local ? { ...settled, role: 'system' } : settled);
  }
  const { bytes } = index;
  const { start, end } = message.value;
  if (!local || message.role === 'system' || !message.roleAt) return bytes.toString('utf8', start, end);
  const { start: from, end: to } = message.roleAt;
  return `${bytes.toString('utf8', start, from)}"system"${bytes.toString('utf8', to, end)}`;
}

/** Serialises a message again, so that only the last of two equal keys remains. */
const settledText = (index: BodyIndex, message: Message): string => JSON.stringify(parsed(index, message));

const parsed = (index: BodyIndex, { value }: Message): { content?: Content } =>
  JSON.parse(index.bytes.toString('utf8', value.start, value.end)) as { content?: Content };

function mergedText(index: BodyIndex, system: readonly Message[]): string {
  const contents = system.map((message) => parsed(index, message).content);
  return JSON.stringify({ role: 'system', content: mergedContent(contents) });
}

/** Joins texts by a blank line; if any content is an array, concatenates all parts. */
function mergedContent(contents: readonly Content[]): Content {
  const present = contents.filter((content) => content !== null && content !== undefined);
  if (!present.some((content) => Array.isArray(content))) return present.join('\n\n');
  return present.flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  );
}
