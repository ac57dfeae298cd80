import { asList, asObject, type Json } from '../json.ts';
import {
  blockPlaceholder,
  COMPACTION_PLACEHOLDER,
  documentPlaceholder,
  filePlaceholder,
} from '../placeholders.ts';
import { textOfFile } from '../text-file.ts';

/** A block that no model reads here. `type` is a word that no API uses for a block. */
export interface UnreadableBlock {
  readonly type: 'svc_unreadable';
  /** The block as it was sent. Its type is a text. */
  readonly block: Json;
}

const IMAGE_SOURCES: readonly unknown[] = ['base64', 'url'];
const DOCUMENT_SOURCES: readonly unknown[] = ['text', 'content'];

/** Blocks that only a provider can read, or that belong to its tools. Providers add types without notice. */
const OF_PROVIDER =
  /^(thinking|redacted_thinking|fallback|container_upload|browser_state|compaction|server_tool_use|tool_(addition|removal|reference)|mcp_.+|.+_tool_(use|result))$/;

/**
 * Returns a block as it is when its type is in `types` and its source can be read; otherwise wraps it, so that
 * the schema accepts it. Values that are no block are returned for the schema to report.
 */
export function wrapUnreadable(value: unknown, types: ReadonlySet<string>): unknown {
  const block = withTextSource(asObject(value));
  if (typeof block?.type !== 'string') return value;
  return types.has(block.type) && hasReadableSource(block) ? block : { type: 'svc_unreadable', block };
}

/** Returns a document with its text as the source if it was sent as a file of text. */
function withTextSource(block: Json | undefined): Json | undefined {
  const source = block?.type === 'document' ? asObject(block.source) : undefined;
  const text = source?.type === 'base64' ? textOfFile(source.data, source.media_type, block?.title) : null;
  return text === null ? block : { ...block, source: { type: 'text', data: text } };
}

function hasReadableSource({ type, source }: Json): boolean {
  const from = asObject(source)?.type;
  if (typeof from !== 'string') return true;
  if (type === 'image') return IMAGE_SOURCES.includes(from);
  return type !== 'document' || DOCUMENT_SOURCES.includes(from);
}

/** Returns the type of the wrapped block. */
export const typeOf = ({ block }: UnreadableBlock): string => String(block.type);

/** Returns whether a provider made the block, so that a caller who sends it makes no mistake. */
export const isOfProvider = (block: UnreadableBlock): boolean => OF_PROVIDER.test(typeOf(block));

/** Returns the text that a model reads in place of the block. */
export function placeholderOf(wrapped: UnreadableBlock): string {
  const { block } = wrapped;
  if (block.type === 'document') return documentPlaceholder(block);
  if (block.type === 'image' || block.type === 'container_upload') return filePlaceholder(block.title);
  const found = referencedTools(block);
  if (found.length > 0) return foundText(found);
  if (block.type !== 'compaction') return blockPlaceholder(typeOf(wrapped));
  return typeof block.content === 'string' && block.content !== '' ? block.content : COMPACTION_PLACEHOLDER;
}

/** Returns what a model reads about tools that a search found. */
export const foundText = (names: readonly string[]): string =>
  `${names.length === 1 ? 'Tool' : 'Tools'} found: ${names.join(', ')}`;

/**
 * Returns the names of the tools that a block makes available: a reference, the result of a provider's tool
 * search, or an added tool.
 */
export function referencedTools(block: Json): string[] {
  const found = block.type === 'tool_search_tool_result' ? asObject(block.content)?.tool_references : [];
  const added = block.type === 'tool_addition' ? [block.tool] : [];
  return [block, ...asList(found), ...added].flatMap((each) => {
    const reference = asObject(each);
    const name = reference?.tool_name ?? reference?.name;
    return typeof name === 'string' && (reference?.type === 'tool_reference' || reference !== block)
      ? [name]
      : [];
  });
}
