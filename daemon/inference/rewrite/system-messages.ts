import type { BodyPicture, Message } from './body-index.ts';
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
export const systemMessages: BodyRule = ({ picture, local }) => {
  if (picture.messages.every((message) => isInOrder(message, local))) return NO_EDITS;
  const system = picture.messages.filter(isSystem);
  const others = picture.messages.filter((message) => message.doubtful && !isSystem(message));
  const settled = others.map((message) => replace(message.value, settledText(picture, message)));
  return [...settled, ...arranged(picture, system, local)];
};

/** Whether a message may stand where and as it is. */
const isInOrder = (message: Message, local: boolean): boolean =>
  !message.doubtful && (!isSystem(message) || (message.index === 0 && (message.role === 'system' || !local)));

function arranged(picture: BodyPicture, system: readonly Message[], local: boolean): Edit[] {
  const [first, ...rest] = system;
  if (!first) return [];
  const text = rest.length > 0 ? mergedText(picture, system) : singleText(picture, first, local);
  const later = rest.map((message) => remove('messages', message));
  if (first.index > 0) return [remove('messages', first), ...later, insert('messages', text)];
  const unchanged = rest.length === 0 && !first.doubtful && (first.role === 'system' || !local);
  return unchanged ? [] : [replace(first.value, text), ...later];
}

/** The bytes of one message as they came, with `developer` written as `system` for local engines. */
function singleText(picture: BodyPicture, message: Message, local: boolean): string {
  if (message.doubtful) {
    const settled = JSON.parse(settledText(picture, message)) as Record<string, unknown>;
    return JSON.stringify(local ? { ...settled, role: 'system' } : settled);
  }
  const { bytes } = picture;
  const { start, end } = message.value;
  if (!local || message.role === 'system' || !message.roleAt) return bytes.toString('utf8', start, end);
  const { start: from, end: to } = message.roleAt;
  return `${bytes.toString('utf8', start, from)}"system"${bytes.toString('utf8', to, end)}`;
}

/** A message written anew, so that of two equal keys only the last is left. */
const settledText = (picture: BodyPicture, message: Message): string =>
  JSON.stringify(parsed(picture, message));

const parsed = (picture: BodyPicture, { value }: Message): { content?: Content } =>
  JSON.parse(picture.bytes.toString('utf8', value.start, value.end)) as { content?: Content };

function mergedText(picture: BodyPicture, system: readonly Message[]): string {
  const contents = system.map((message) => parsed(picture, message).content);
  return JSON.stringify({ role: 'system', content: mergedContent(contents) });
}

/** Texts joined by a blank line; as soon as one content is an array, all parts in order. */
function mergedContent(contents: readonly Content[]): Content {
  const present = contents.filter((content) => content !== null && content !== undefined);
  if (!present.some((content) => Array.isArray(content))) return present.join('\n\n');
  return present.flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  );
}
