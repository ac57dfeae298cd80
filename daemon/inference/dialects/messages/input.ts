import { type SourcePaths, tagSource } from '../error-paths.ts';
import type { Json } from '../json.ts';
import { recordOrigin } from '../reasoning-signature.ts';
import type { AssistantBlock, CountBody, InputMessage, ResultBlock, UserBlock } from './request-schema.ts';

/**
 * An Anthropic billing line, which Claude Code puts first and changes with every request. It means nothing to
 * a model and would invalidate the prompt cache.
 */
const BILLING = 'x-anthropic-billing-header:';

/** Translates the messages to those of a chat. */
export function chatMessages(
  { system, messages }: Pick<CountBody, 'system' | 'messages'>,
  sources: SourcePaths,
): Json[] {
  const texts = (system ?? []).map(({ text }) => text);
  const remaining = texts.filter((text) => text !== '' && !text.startsWith(BILLING));
  const first =
    remaining.length === 0
      ? []
      : [tagSource(sources, 'system', { role: 'system', content: remaining.join('\n\n') })];
  return [...first, ...messages.flatMap((message, at) => chatMessage(message, `messages.${at}`, sources))];
}

function chatMessage(message: InputMessage, place: string, sources: SourcePaths): Json[] {
  if (message.role === 'user') return userMessages(message.content, place, sources);
  const made =
    message.role === 'assistant'
      ? assistantMessage(message.content)
      : { role: 'system', content: message.content.map(({ text }) => text).join('\n\n') };
  return [tagSource(sources, place, made)];
}

/** Tool results come first, each as its own message. Their images follow in a user message. */
function userMessages(blocks: readonly UserBlock[], place: string, sources: SourcePaths): Json[] {
  const results: Json[] = [];
  const shown: PlacedBlock[] = [];
  const userBlocks: PlacedBlock[] = [];
  for (const [at, block] of blocks.entries()) {
    const here = `${place}.content.${at}`;
    if (block.type !== 'tool_result') userBlocks.push({ block, path: here });
    else {
      const { tool_use_id: tool_call_id, content = [] } = block;
      results.push(tagSource(sources, here, { role: 'tool', tool_call_id, content: textsOf(content) }));
      for (const [i, each] of content.entries())
        if (isImage(each)) shown.push({ block: each, path: `${here}.content.${i}` });
    }
  }
  const own = [...shown, ...userBlocks];
  if (own.length === 0) return results;
  return [...results, tagSource(sources, place, { role: 'user', content: contentOf(own, sources) })];
}

/** A block and its path in the caller's request. */
interface PlacedBlock {
  readonly block: ResultBlock;
  readonly path: string;
}

const isImage = (block: ResultBlock): boolean => block.type === 'image';

const textsOf = (blocks: readonly ResultBlock[]): string =>
  blocks
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n');

function textOf(block: ResultBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'image') return '';
  return typeof block.title === 'string' ? `${block.title}\n${block.source.data}` : block.source.data;
}

/** Returns a string when there are no images: every engine and template accepts that. */
function contentOf(blocks: readonly PlacedBlock[], sources: SourcePaths): unknown {
  if (!blocks.some(({ block }) => isImage(block)))
    return blocks.map(({ block }) => textOf(block)).join('\n\n');
  return blocks.map(({ block, path }) => tagSource(sources, path, chatPart(block)));
}

const chatPart = (block: ResultBlock): Json =>
  block.type === 'image'
    ? { type: 'image_url', image_url: { url: addressOf(block.source) } }
    : { type: 'text', text: textOf(block) };

type Source = (ResultBlock & { type: 'image' })['source'];
const addressOf = (source: Source): string =>
  source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;

function assistantMessage(blocks: readonly AssistantBlock[]): Json {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const thoughts = blocks.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join('\n');
  const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : []));
  const message = {
    role: 'assistant',
    ...(thoughts === '' ? {} : { reasoning_content: thoughts }),
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  for (const block of blocks) if (block.type === 'thinking') recordOrigin(message, block.signature);
  return message;
}

const callOf = ({ id, name, input }: AssistantBlock & { type: 'tool_use' }): Json => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input ?? {}) },
});
