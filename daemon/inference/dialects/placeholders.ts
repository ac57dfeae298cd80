import { asObject, type Json } from './json.ts';

/** Replaces an image for a model without vision. */
export const IMAGE_PLACEHOLDER = '[An image that this model cannot read.]';

/** Replaces the summary of earlier turns that only its provider can decrypt. */
export const COMPACTION_PLACEHOLDER =
  '[Earlier turns were compacted by another provider. They cannot be read here.]';

/** Replaces a PDF document. `title` is its name, if it has one. */
export const pdfPlaceholder = (title: unknown): string =>
  `[A PDF document${named(title)} that this model cannot read. Convert it to text, for example with pdftotext.]`;

/** Replaces a file that is stored at a provider, or has a format that no model reads here. */
export const filePlaceholder = (title: unknown): string =>
  `[A file${named(title)} that this model cannot read.]`;

/** Replaces a block that only its provider can read. */
export const blockPlaceholder = (type: string): string =>
  `[A block of the type ${type.slice(0, 64)} that only its provider can read.]`;

const MAX_TITLE_LENGTH = 200;

const named = (title: unknown): string =>
  typeof title === 'string' && title !== '' ? ` (${title.slice(0, MAX_TITLE_LENGTH)})` : '';

/** Whether a file is a PDF, by its media type, name or data URL. */
export function isPdf(...hints: readonly unknown[]): boolean {
  return hints.some(
    (hint) =>
      typeof hint === 'string' &&
      (/^(data:)?application\/pdf/i.test(hint.slice(0, 64)) || /\.pdf(?:[?#]|$)/i.test(hint.slice(-256))),
  );
}

/** Returns the placeholder of a `document` block of Anthropic's API. */
export function documentPlaceholder({ title, source }: Json): string {
  const from = asObject(source) ?? {};
  const pdf = isPdf(from.media_type, from.url, title) || from.type === 'base64' || from.type === 'url';
  return pdf ? pdfPlaceholder(title) : filePlaceholder(title);
}
