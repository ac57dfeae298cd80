import { asObject, type Json } from '../json.ts';
import { filePlaceholder, IMAGE_PLACEHOLDER, isPdf, pdfPlaceholder } from '../placeholders.ts';
import { textOfFile, titled } from '../text-file.ts';

/** An item or part that no model reads here. `type` is a word that no API uses. */
export interface Unreadable {
  readonly type: 'svc_unreadable';
  /** The item or part as it was sent. Its type is a text. */
  readonly original: Json;
}

/** Items that a provider makes, or that belong to its tools. Providers add types without notice. */
const OF_PROVIDER = /(_call|_call_output|_output)$|^(mcp_.+|compaction(_.+)?|program|configuration_update)$/;

const ITEM_TYPES: ReadonlySet<unknown> = new Set([
  ...['message', 'reasoning', 'item_reference', 'additional_tools'],
  ...['function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
  ...['tool_search_call', 'tool_search_output', 'local_shell_call', 'local_shell_call_output'],
  ...['shell_call', 'shell_call_output', 'apply_patch_call', 'apply_patch_call_output'],
]);

const PART_TYPES: ReadonlySet<unknown> = new Set([
  ...['input_text', 'output_text', 'text', 'reasoning_text', 'summary_text', 'refusal', 'input_image'],
]);

const wrapped = (original: Json): Unreadable => ({ type: 'svc_unreadable', original });

/**
 * Returns an item with its type, or wraps one that only a provider can read, so that the schema accepts it.
 * A message and a reference may omit their type.
 */
export function readableItem(value: unknown): unknown {
  const item = asObject(value);
  if (item === undefined) return value;
  const { type } = item;
  if (type === undefined || type === null) {
    if ('role' in item || !('id' in item)) return { ...item, type: 'message' };
    return { ...item, type: 'item_reference' };
  }
  return typeof type !== 'string' || ITEM_TYPES.has(type) ? value : wrapped(item);
}

/** Returns a part, or wraps one that no model reads here. A file of text becomes one. */
export function readablePart(value: unknown): unknown {
  const part = asObject(value);
  if (typeof part?.type !== 'string') return value;
  const text = part.type === 'input_file' ? textOfFile(part.file_data, part.filename) : null;
  if (text !== null) return { type: 'input_text', text: titled(part.filename, text) };
  const stored = part.type === 'input_image' && typeof part.image_url !== 'string';
  return PART_TYPES.has(part.type) && !stored ? value : wrapped(part);
}

/** Returns the type of the original. */
export const typeOf = ({ original }: Unreadable): string => String(original.type);

/** Returns whether a provider made the item, so that a caller who sends it makes no mistake. */
export const isOfProvider = (item: Unreadable): boolean => OF_PROVIDER.test(typeOf(item));

/** Returns the name of a part for the header: a PDF is named as such. */
export const partName = (part: Unreadable): string => (isPdfPart(part) ? 'input_file (PDF)' : typeOf(part));

const isPdfPart = ({ original }: Unreadable): boolean =>
  isPdf(original.filename, original.file_data, original.file_url);

/** Returns the text that a model reads in place of a part. */
export function partText(part: Unreadable): string {
  const { type, filename } = part.original;
  if (type === 'input_image') return IMAGE_PLACEHOLDER;
  if (isPdfPart(part)) return pdfPlaceholder(filename);
  return filePlaceholder(type === 'input_file' ? filename : type);
}
