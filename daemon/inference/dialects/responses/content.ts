import { type SourcePaths, tagSource } from '../error-paths.ts';
import type { Json } from '../json.ts';
import { IMAGE_PLACEHOLDER } from '../placeholders.ts';
import { invalidField } from '../read-body.ts';
import type { Content } from './request-schema.ts';
import { typeOf, type Unreadable } from './unreadable.ts';

export type ReadablePart = Exclude<Content[number], Unreadable>;
export type ReadableContent = readonly ReadablePart[];

/** Returns the error for a part of the newest user message that no model reads. */
export function unreadableNow(part: Unreadable, path: string): Error {
  if (typeOf(part) === 'input_image')
    return invalidField(
      `${path}.image_url`,
      'Could not process image: must be an address or a data URL',
      400,
    );
  if (typeOf(part) === 'input_file')
    return invalidField(`${path}.type`, 'Could not process file: send its text as input_text', 400);
  return invalidField(`${path}.type`, 'parts must be input_text, output_text, input_image or refusal');
}

/** Separates the parts of written input; parts of a response are joined without it. */
export const LINES = '\n';

/** Joins earlier and later content of a turn. A list in `before` belongs to the turn and is extended. */
export function joined(before: unknown, more: unknown): unknown {
  if (before === undefined || before === null || before === '') return more;
  if (typeof before === 'string' && typeof more === 'string') return before + LINES + more;
  const parts = partsOf(before);
  for (const part of partsOf(more)) parts.push(part);
  return parts;
}

const partsOf = (content: unknown): unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content as unknown[]);

/**
 * Returns a string for text-only content: every engine and template accepts that. `glue` separates the parts.
 */
export function contentOf(
  content: ReadableContent,
  place: string,
  places: SourcePaths,
  glue = LINES,
): unknown {
  if (!content.some(isImage)) return textsOf(content, glue);
  return content.map((part, at) => tagSource(places, `${place}.${at}`, chatPart(part)));
}

/** Whether a part is an image that a chat can carry. */
export const isImage = (part: ReadablePart): boolean => part.type === 'input_image';

/** Returns the texts of the parts. */
export const textsOf = (content: ReadableContent, glue = LINES): string =>
  content
    .filter((part) => !isImage(part))
    .map(textOf)
    .join(glue);

/** Returns the part of a chat. */
export function chatPart(part: ReadablePart): Json {
  if (part.type !== 'input_image') return { type: 'text', text: textOf(part) };
  const { image_url: url, detail } = part;
  return { type: 'image_url', image_url: { url, ...(detail ? { detail } : {}) } };
}

/** Returns the text of a part for a model without vision. */
export const plainText = (part: ReadablePart): string => (isImage(part) ? IMAGE_PLACEHOLDER : textOf(part));

const textOf = (part: ReadablePart): string =>
  part.type === 'refusal' ? part.refusal : part.type === 'input_image' ? '' : part.text;
