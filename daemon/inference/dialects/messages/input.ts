import type { IgnoredNames } from '../../../contract/ignored.ts';
import { type SourcePaths, tagSource } from '../error-paths.ts';
import type { Json } from '../json.ts';
import { IMAGE_PLACEHOLDER, isPdf } from '../placeholders.ts';
import { invalidField } from '../read-body.ts';
import { parseSignature, recordOrigin } from '../reasoning-signature.ts';
import { placeSystemMessages } from '../system-position.ts';
import { recordTextOnly } from '../text-only.ts';
import type {
  AssistantBlock,
  CountBody,
  InputMessage,
  ResultBlock,
  SystemBlock,
  UserBlock,
} from './request-schema.ts';
import { foundText, isOfProvider, placeholderOf, typeOf, type UnreadableBlock } from './unreadable.ts';

/**
 * An Anthropic billing line, which Claude Code puts first and changes with every request. It means nothing to
 * a model and would invalidate the prompt cache.
 */
const BILLING = 'x-anthropic-billing-header:';

/** What a translation records besides the chat. */
export interface TranslationNotes {
  readonly places: SourcePaths;
  readonly ignored: IgnoredNames;
}

/**
 * Translates the messages to those of a chat. Blocks that only a provider can read are left out or become
 * text. Throws `request.invalid` for a file or an unknown block in the newest user message.
 */
export function chatMessages(
  { system, messages }: Pick<CountBody, 'system' | 'messages'>,
  notes: TranslationNotes,
): Json[] {
  const texts = (system ?? []).map(({ text }) => text);
  const remaining = texts.filter((text) => text !== '' && !text.startsWith(BILLING));
  const first =
    remaining.length === 0
      ? []
      : [tagSource(notes.places, 'system', { role: 'system', content: remaining.join('\n\n') })];
  const newest = messages.findLastIndex(({ role }) => role === 'user');
  const all = messages.flatMap((message, at) =>
    chatMessage(message, { ...notes, place: `messages.${at}`, isNewest: at === newest }),
  );
  return placeSystemMessages([...first, ...all], notes.places);
}

/** The message that is being translated. */
interface Spot extends TranslationNotes {
  readonly place: string;
  /** It is the newest message of the user. */
  readonly isNewest: boolean;
}

function chatMessage(message: InputMessage, spot: Spot): Json[] {
  if (message.role === 'user') return userMessages(message.content, spot);
  const made =
    message.role === 'assistant'
      ? assistantMessage(message.content, spot)
      : systemMessage(message.content ?? [], spot);
  return made === null ? [] : [tagSource(spot.places, spot.place, made)];
}

function systemMessage(blocks: readonly SystemBlock[], { ignored }: Spot): Json | null {
  const texts = blocks.flatMap((block) => {
    if (block.type === 'text') return [block.text];
    ignored.add(typeOf(block));
    return [];
  });
  return texts.length === 0 ? null : { role: 'system', content: texts.join('\n\n') };
}

/** A block of a user that a chat can carry, and its path in the caller's request. */
interface PlacedBlock {
  readonly block: ShownBlock;
  readonly path: string;
}
type ShownBlock = Exclude<ResultBlock, UnreadableBlock>;

/** Tool results come first, each as its own message. Their images follow in a user message. */
function userMessages(blocks: readonly UserBlock[], spot: Spot): Json[] {
  const results: Json[] = [];
  const shown: PlacedBlock[] = [];
  const userBlocks: PlacedBlock[] = [];
  for (const [at, block] of blocks.entries()) {
    const path = `${spot.place}.content.${at}`;
    if (block.type === 'tool_result') {
      const content = (block.content ?? []).map((each, i) => ({
        block: readable(each, spot.ignored),
        path: `${path}.content.${i}`,
      }));
      results.push(tagSource(spot.places, path, toolMessage(block.tool_use_id, content)));
      shown.push(...content.filter(({ block: each }) => isImage(each)));
      continue;
    }
    if (block.type === 'svc_unreadable' && spot.isNewest) assertHistory(block, path);
    userBlocks.push({ block: readable(block, spot.ignored), path });
  }
  return [...results, ...ownMessage(shown, userBlocks, spot)];
}

function toolMessage(tool_call_id: string, content: readonly PlacedBlock[]): Json {
  const message = (text: string): Json => ({ role: 'tool', tool_call_id, content: text });
  const made = message(textsOf(content, ''));
  if (content.some(({ block }) => isImage(block)))
    recordTextOnly(made, message(textsOf(content, IMAGE_PLACEHOLDER)));
  return made;
}

/** Returns the message of the user's own blocks, after the images of results. */
function ownMessage(shown: readonly PlacedBlock[], userBlocks: readonly PlacedBlock[], spot: Spot): Json[] {
  const own = [...shown, ...userBlocks];
  if (own.length === 0) return [];
  const message = (content: unknown): Json => tagSource(spot.places, spot.place, { role: 'user', content });
  const made = message(contentOf(own, spot.places));
  if (!own.some(({ block }) => isImage(block))) return [made];
  // An image in the newest message stays, so that the engine refuses it.
  const plain = spot.isNewest ? userBlocks : userBlocks.map(withoutImage);
  recordTextOnly(made, plain.length === 0 ? null : message(contentOf(plain, spot.places)));
  return [made];
}

const withoutImage = ({ block, path }: PlacedBlock): PlacedBlock => ({
  block: isImage(block) ? { type: 'text', text: IMAGE_PLACEHOLDER } : block,
  path,
});

/** Throws for a block in the newest message that the caller did not get from a provider. */
function assertHistory(unreadable: UnreadableBlock, path: string): void {
  const { block } = unreadable;
  // Claude Code removes the block and tries again when it reads these words.
  if (block.type === 'document' || block.type === 'container_upload')
    throw invalidField(`${path}.source.type`, 'Could not process PDF: only documents of text are read', 400);
  if (block.type === 'image')
    throw invalidField(`${path}.source.type`, 'Could not process image: must be base64 or url', 400);
  if (!isOfProvider(unreadable))
    throw invalidField(
      `${path}.type`,
      'blocks of a user are text, image, document, search_result and tool_result',
    );
}

/** Returns the block, or the text that replaces it. */
function readable(block: ResultBlock, ignored: IgnoredNames): ShownBlock {
  if (block.type !== 'svc_unreadable') return block;
  ignored.add(nameOf(block));
  return { type: 'text', text: placeholderOf(block) };
}

function nameOf(unreadable: UnreadableBlock): string {
  const { block } = unreadable;
  const source = block.source as Json | undefined;
  const pdf = block.type === 'document' && isPdf(source?.media_type, source?.url, block.title);
  return pdf ? 'document (PDF)' : typeOf(unreadable);
}

const isImage = (block: ShownBlock): boolean => block.type === 'image';

const textsOf = (blocks: readonly PlacedBlock[], imageText: string): string =>
  blocks
    .map(({ block }) => (isImage(block) ? imageText : textOf(block)))
    .filter((text) => text !== '')
    .join('\n');

function textOf(block: ShownBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'image') return '';
  if (block.type === 'tool_reference') return foundText([block.tool_name]);
  const { title } = block;
  const lines =
    block.type === 'search_result'
      ? [title, block.source, ...textLines(block.content)]
      : [title, ...documentLines(block.source)];
  return lines.filter((line) => typeof line === 'string').join('\n');
}

type DocumentSource = (ShownBlock & { type: 'document' })['source'];
const documentLines = (source: DocumentSource): string[] =>
  source.type === 'text' ? [source.data] : textLines(source.content);

const textLines = (blocks: readonly SystemBlock[]): string[] =>
  blocks.map((block) => (block.type === 'text' ? block.text : placeholderOf(block)));

/** Returns a string when there are no images: every engine and template accepts that. */
function contentOf(blocks: readonly PlacedBlock[], sources: SourcePaths): unknown {
  if (!blocks.some(({ block }) => isImage(block)))
    return blocks.map(({ block }) => textOf(block)).join('\n\n');
  return blocks.map(({ block, path }) => tagSource(sources, path, chatPart(block)));
}

const chatPart = (block: ShownBlock): Json =>
  block.type === 'image'
    ? { type: 'image_url', image_url: { url: addressOf(block.source) } }
    : { type: 'text', text: textOf(block) };

type Source = (ShownBlock & { type: 'image' })['source'];
const addressOf = (source: Source): string =>
  source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;

/** Returns null for a turn without blocks. */
function assistantMessage(blocks: readonly AssistantBlock[], { ignored }: Spot): Json | null {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: Json[] = [];
  const left: string[] = [];
  for (const block of blocks) {
    if (block.type === 'text') texts.push(block.text);
    else if (block.type === 'thinking') thoughts.push(block.thinking);
    else if (block.type === 'tool_use') calls.push(callOf(block));
    else {
      ignored.add(typeOf(block));
      // A summary of earlier turns is the only trace of them.
      (block.block.type === 'compaction' ? texts : left).push(placeholderOf(block));
    }
  }
  const text = texts.join('');
  const isEmpty = text === '' && calls.length === 0 && thoughts.every((each) => each === '');
  const message = {
    role: 'assistant',
    ...(thoughts.some((each) => each !== '') ? { reasoning_content: thoughts.join('\n') } : {}),
    // Engines refuse a turn without content.
    content: text === '' && calls.length > 0 ? null : isEmpty ? left.join('\n') : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  for (const block of blocks) if (block.type === 'thinking') recordSignature(message, block, ignored);
  return message;
}

function recordSignature(
  message: Json,
  { signature }: AssistantBlock & { type: 'thinking' },
  ignored: IgnoredNames,
): void {
  recordOrigin(message, signature);
  const isForeign =
    typeof signature === 'string' && signature !== '' && parseSignature(signature) === undefined;
  if (isForeign) ignored.add('thinking.signature');
}

const callOf = ({ id, name, input }: AssistantBlock & { type: 'tool_use' }): Json => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input ?? {}) },
});
