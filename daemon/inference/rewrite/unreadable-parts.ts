import { asList, asObject, type Json } from '../dialects/json.ts';
import {
  blockPlaceholder,
  filePlaceholder,
  IMAGE_PLACEHOLDER,
  isPdf,
  pdfPlaceholder,
} from '../dialects/placeholders.ts';
import { textOfFile, titled } from '../dialects/text-file.ts';
import type { Message } from './body-index.ts';
import type { BodyContext, BodyRule, MediaSupport } from './body-rule.ts';
import { fillArguments } from './call-arguments.ts';
import { type Edit, NO_EDITS, replace } from './edits.ts';

/** Types of parts that every engine reads. */
const TEXT: ReadonlySet<unknown> = new Set(['text', 'refusal', 'input_text', 'output_text']);
/** Types of images. */
const IMAGES: ReadonlySet<unknown> = new Set(['image_url', 'input_image', 'image']);
/** Types of reasoning, which a later turn does not need. */
const REASONING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning']);

/**
 * Replaces parts that the target cannot read by text, in tool results and older turns
 * (docs/spec/contract.md#unreadable-media). In the newest user message they stay, so that the engine refuses it. Files
 * of text become their text everywhere. Empty arguments of the same messages are filled in here, because edits must not overlap. A target of
 * unknown abilities gets the original, and so does a translated chat, whose
 * translation decided.
 */
export const unreadableParts: BodyRule = (context) => {
  const filled = fillArguments(context);
  const edits = partEdits(context, filled);
  if (edits.length === 0) return filled;
  const edited = new Set(edits.map(startOf));
  return [...edits, ...filled.filter((edit) => !edited.has(startOf(edit)))];
};

const startOf = (edit: Edit): number | null => (edit.do === 'replace' ? edit.at.start : null);

/** Returns the edits of messages with such parts. They include the filled-in arguments of the same message. */
function partEdits({ index, history, media, ignore }: BodyContext, filled: readonly Edit[]): readonly Edit[] {
  if (history !== undefined || media === undefined || !index.messages.some(hasParts)) return NO_EDITS;
  const support = media();
  if (support === 'unknown') return NO_EDITS;
  const newest = newestUser(index.messages);
  return index.messages.flatMap((message): Edit[] => {
    if (!hasParts(message)) return [];
    const { start, end } = message.value;
    const isNewest = message.index === newest;
    // Images are large: their message is not parsed needlessly.
    if (isNewest && !index.bytes.subarray(start, end).includes('"file_data"')) return [];
    const fill = filled.find((edit) => startOf(edit) === start);
    const text = fill?.do === 'replace' ? fill.with : index.bytes.toString('utf8', start, end);
    const made = readableMessage(text, { support, isNewest, ignore });
    return made === null ? [] : [replace(message.value, made)];
  });
}

const hasParts = ({ hasParts: has, isAmbiguous, role }: Message): boolean =>
  has && !isAmbiguous && (role === 'user' || role === 'assistant' || role === 'tool');

/** Returns the index of the user message that is to be answered; -1 when a tool result follows it. */
function newestUser(messages: readonly Message[]): number {
  const at = messages.findLastIndex(({ role }) => role === 'user' || role === 'tool');
  return messages[at]?.role === 'user' ? at : -1;
}

interface Reading {
  readonly support: MediaSupport;
  /** It is the message to be answered: what cannot be read stays for the engine to refuse. */
  readonly isNewest: boolean;
  readonly ignore: ((name: string) => void) | undefined;
}

/** Returns null for a message that stays. */
function readableMessage(text: string, { support, isNewest, ignore }: Reading): string | null {
  const message = JSON.parse(text) as Json;
  let isChanged = false;
  const content = asList(message.content).flatMap((each) => {
    const part = asObject(each);
    if (part === undefined || isReadable(part, support)) return [each];
    const own = textOfPart(part);
    if (own === null && isNewest) return [each];
    isChanged = true;
    if (own === null) ignore?.(String(part.type));
    const made = own ?? placeholderOf(part);
    return made === null ? [] : [{ type: 'text', text: made }];
  });
  return isChanged ? JSON.stringify({ ...message, content: plainContent(content) }) : null;
}

/** Returns the text of a file of text, below its name; null for any other part. */
function textOfPart(part: Json): string | null {
  if (part.type !== 'file' && part.type !== 'input_file') return null;
  const { filename, file_data: data } = asObject(part.file) ?? part;
  const text = textOfFile(data, filename);
  return text === null ? null : titled(filename, text);
}

/** Returns a string for text-only content: every engine and template accepts that. */
function plainContent(parts: readonly unknown[]): unknown {
  const texts = parts.map((part) => asObject(part)).map((part) => (part?.type === 'text' ? part.text : null));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : parts;
}

/** A part without a type is left for the engine to report. */
const isReadable = ({ type }: Json, support: MediaSupport): boolean =>
  typeof type !== 'string' || TEXT.has(type) || (support === 'images' && type === 'image_url');

/** Returns null for reasoning, which needs no placeholder. */
function placeholderOf(part: Json): string | null {
  if (REASONING.has(part.type)) return null;
  if (IMAGES.has(part.type)) return IMAGE_PLACEHOLDER;
  if (part.type !== 'file' && part.type !== 'input_file' && part.type !== 'document')
    return blockPlaceholder(String(part.type));
  const { filename, file_data: data } = asObject(part.file) ?? part;
  return isPdf(filename, data) ? pdfPlaceholder(filename) : filePlaceholder(filename);
}
