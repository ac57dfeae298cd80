import type { IgnoredNames } from '../../../contract/ignored.ts';
import { type SourcePaths, tagSource } from '../error-paths.ts';
import { asObject, type Json } from '../json.ts';
import { COMPACTION_PLACEHOLDER, IMAGE_PLACEHOLDER } from '../placeholders.ts';
import { parseSignature, recordOrigin } from '../reasoning-signature.ts';
import { placeSystemMessages } from '../system-position.ts';
import { recordTextOnly, textOnlyOf } from '../text-only.ts';
import { isInContainer, localShellArguments, shellArguments, shellOutputText } from './client-tools.ts';
import {
  chatPart,
  contentOf,
  isImage,
  joined,
  LINES,
  plainText,
  type ReadableContent,
  type ReadablePart,
  textsOf,
  unreadableNow,
} from './content.ts';
import { flatTools } from './declared-tools.ts';
import { type Conversation, itemPath, type ResolvedInput } from './references.ts';
import type { Content, InputItem } from './request-schema.ts';
import { chatName } from './tool-names.ts';
import { INPUT_FIELD, SEARCH } from './tools.ts';
import { partName, partText, typeOf, type Unreadable } from './unreadable.ts';

/**
 * Translates instructions and input items to the messages of a chat. What only a provider can read is left
 * out or becomes text, and is named in `ignored`. Throws `request.invalid` for a file in the newest user
 * message.
 */
export function chatMessages(
  { instructions, input }: Pick<Conversation, 'instructions' | 'input'>,
  places: SourcePaths,
  ignored: IgnoredNames,
): Json[] {
  const out = new Messages(places, ignored);
  if (typeof instructions === 'string' && instructions !== '')
    out.add({ role: 'system', content: instructions }, 'instructions');
  const newest = newestUserItem(input);
  for (const [at, item] of input.items.entries()) out.item(item, itemPath(input, at), at === newest);
  return placeSystemMessages(out.all(), places);
}

/** Returns the index of the user message that is to be answered; -1 when output of a tool follows it. */
function newestUserItem({ items }: ResolvedInput): number {
  const isUser = (item: InputItem | undefined): boolean => item?.type === 'message' && item.role === 'user';
  const at = items.findLastIndex((item) => isUser(item) || item.type.endsWith('_output'));
  return isUser(items[at]) ? at : -1;
}

/**
 * Merges consecutive reasoning, text and calls of the assistant into one message. While a call has no result,
 * what follows it belongs to the same message: providers refuse a chat with anything between the two.
 */
class Messages {
  readonly #all: Json[] = [];
  #turn: Json | null = null;
  /** Calls of the turn without a result. */
  readonly #pendingCalls = new Set<string>();
  readonly #places: SourcePaths;
  /**
   * Images of results, which providers refuse in a tool message. A user message after the last result carries
   * them.
   */
  #images: Json[] = [];
  #imagesPath = '';
  /** The path of the current item. */
  #path = '';
  readonly #ignored: IgnoredNames;
  /** The newest user message, whose files the engine must be able to read. */
  #newest: Json | null = null;
  /** Calls that ran at a provider. Their results are left out. */
  readonly #foreignCalls = new Set<string>();
  /** Ids of items of `local_shell`, which results may name, and their calls. */
  readonly #shellCalls = new Map<string, string>();

  constructor(places: SourcePaths, ignored: IgnoredNames) {
    this.#places = places;
    this.#ignored = ignored;
  }

  add(message: Json, place: string): void {
    this.#turn = null;
    this.#pendingCalls.clear();
    this.#flushImages();
    this.#all.push(tagSource(this.#places, place, message));
  }

  item(item: InputItem, place: string, isNewest: boolean): void {
    this.#path = place;
    if (item.type === 'message') this.#message(item, isNewest);
    else if (item.type === 'svc_unreadable') this.#unreadable(item);
    else if (item.type === 'reasoning') this.#reasoning(item);
    else if (item.type === 'function_call') this.#call(item.call_id, nameOf(item), item.arguments);
    else if (item.type === 'custom_tool_call')
      this.#call(item.call_id, nameOf(item), JSON.stringify({ [INPUT_FIELD]: item.input }));
    else if (item.type === 'tool_search_call') this.#search(item);
    else if (item.type === 'tool_search_output') this.#searchResult(item);
    else if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
      this.#result(item);
    else if (item.type !== 'additional_tools' && item.type !== 'item_reference') this.#clientItem(item);
  }

  /** Calls of the tools of `client-tools.ts`, and their results. */
  #clientItem(item: ClientItem): void {
    if (item.type === 'apply_patch_call')
      this.#call(item.call_id, 'apply_patch', JSON.stringify(item.operation));
    else if (item.type === 'apply_patch_call_output')
      this.#answer(item.call_id, item.output || String(item.status ?? 'completed'));
    else if (item.type === 'shell_call') this.#shellCall(item);
    else if (item.type === 'shell_call_output') {
      if (!this.#foreignCalls.has(item.call_id)) this.#answer(item.call_id, shellOutputText(item.output));
    } else if (item.type === 'local_shell_call') {
      const id = item.call_id ?? item.id ?? '';
      if (item.id) this.#shellCalls.set(item.id, id);
      this.#call(id, 'local_shell', JSON.stringify(localShellArguments(item)));
    } else {
      const id = item.call_id ?? this.#shellCalls.get(item.id ?? '') ?? item.id ?? '';
      this.#answer(id, item.output);
    }
  }

  #shellCall(item: ClientItem & { type: 'shell_call' }): void {
    if (!isInContainer(item.environment)) {
      this.#call(item.call_id, 'shell', JSON.stringify(shellArguments(item)));
      return;
    }
    this.#foreignCalls.add(item.call_id);
    this.#ignored.add(item.type);
  }

  /** A summary of earlier turns leaves a trace; everything else does not. */
  #unreadable(item: Unreadable): void {
    this.#ignored.add(typeOf(item));
    if (/^compaction(_summary)?$/.test(typeOf(item)))
      this.add({ role: 'system', content: COMPACTION_PLACEHOLDER }, this.#path);
  }

  all(): Json[] {
    this.#flushImages();
    for (const message of this.#all) this.#recordTextOnly(message);
    return this.#all;
  }

  /** An image in the newest message stays, so that the engine refuses it. */
  #recordTextOnly(message: Json): void {
    const parts = message === this.#newest || !Array.isArray(message.content) ? [] : message.content;
    if (parts.length === 0 || textOnlyOf(message) !== undefined) return;
    const content = parts.map((part) => String(asObject(part)?.text ?? IMAGE_PLACEHOLDER)).join(LINES);
    recordTextOnly(message, { ...message, content });
  }

  /** Replaces parts that no model reads by text. */
  #readable(content: Content, path: string, isNewest = false): ReadableContent {
    return content.map((part, at) => {
      if (part.type !== 'svc_unreadable') return part;
      if (isNewest) throw unreadableNow(part, `${path}.${at}`);
      this.#ignored.add(partName(part));
      return { type: 'input_text', text: partText(part) };
    });
  }

  #message({ role, content: parts }: InputItem & { type: 'message' }, isNewest: boolean): void {
    const glue = role === 'assistant' ? '' : LINES;
    const content = this.#readable(parts, `${this.#path}.content`, isNewest);
    const text = contentOf(content, `${this.#path}.content`, this.#places, glue);
    if (role !== 'assistant') {
      const message = { role, content: text };
      if (isNewest) this.#newest = message;
      this.add(message, this.#path);
      return;
    }
    const turn = this.#textTurn();
    turn.content = joined(turn.content, text);
  }

  #reasoning({ content, summary, encrypted_content: mark }: InputItem & { type: 'reasoning' }): void {
    const own = parseSignature(mark);
    if (typeof mark === 'string' && mark !== '' && own === undefined)
      this.#ignored.add('reasoning.encrypted_content');
    const texts = (parts: readonly { text: string }[] | null | undefined) =>
      (parts ?? []).map(({ text }) => text).join('\n');
    const thoughts = texts(content) || own?.text || texts(summary);
    if (thoughts === '') return;
    const turn = this.#textTurn();
    turn.reasoning_content = joined(turn.reasoning_content, thoughts);
    recordOrigin(turn, mark);
  }

  #call(id: string, name: string, text: string): void {
    const turn = this.#open();
    // Pushes instead of copying: a request may contain very many consecutive calls.
    const calls = (turn.tool_calls ?? []) as Json[];
    const call = { id, type: 'function', function: { name, arguments: text } };
    calls.push(tagSource(this.#places, this.#path, call));
    turn.tool_calls = calls;
    turn.content ??= null;
    this.#pendingCalls.add(id);
  }

  #result({
    call_id,
    output,
  }: InputItem & { type: 'function_call_output' | 'custom_tool_call_output' }): void {
    const content = this.#readable(output, `${this.#path}.output`);
    for (const [at, part] of content.entries()) if (isImage(part)) this.#collectImage(part, at);
    const result = this.#answer(call_id, textsOf(content));
    if (content.some(isImage))
      recordTextOnly(result, { ...result, content: content.map(plainText).join(LINES) });
  }

  #search({ call_id: id, arguments: args }: InputItem & { type: 'tool_search_call' }): void {
    if (id) this.#call(id, SEARCH.name, JSON.stringify(asObject(args) ?? {}));
  }

  /** The tools themselves are in the tools of the chat; the message only names them. */
  #searchResult({ call_id: id, tools }: InputItem & { type: 'tool_search_output' }): void {
    const names = flatTools(tools, this.#path).flatMap(({ tool: { name }, namespace }) =>
      name ? [chatName({ name, namespace })] : [],
    );
    if (id) this.#answer(id, names.length === 0 ? 'No tools found.' : `Tools found: ${names.join(', ')}`);
  }

  #answer(id: string, content: string): Json {
    const result = tagSource(this.#places, this.#path, { role: 'tool', tool_call_id: id, content });
    this.#all.push(result);
    this.#pendingCalls.delete(id);
    if (this.#pendingCalls.size === 0) this.#turn = null;
    return result;
  }

  #collectImage(part: ReadablePart, at: number): void {
    if (this.#images.length === 0) this.#imagesPath = this.#path;
    this.#images.push(tagSource(this.#places, `${this.#path}.output.${at}`, chatPart(part)));
  }

  #flushImages(): void {
    if (this.#images.length === 0) return;
    const shown = tagSource(this.#places, this.#imagesPath, { role: 'user', content: this.#images });
    // The results themselves say that there were images.
    recordTextOnly(shown, null);
    this.#all.push(shown);
    this.#images = [];
  }

  #open(): Json {
    return this.#turn ?? this.#begin();
  }

  /** Returns the turn for text and reasoning: one with reasoning only or pending calls, else a new one. */
  #textTurn(): Json {
    const isStarted = this.#turn !== null && !('content' in this.#turn);
    return isStarted || this.#pendingCalls.size > 0 ? this.#open() : this.#begin();
  }

  #begin(): Json {
    this.#flushImages();
    const turn: Json = tagSource(this.#places, this.#path, { role: 'assistant' });
    this.#all.push(turn);
    this.#turn = turn;
    return turn;
  }
}

type ClientItem = Extract<
  InputItem,
  {
    type:
      | 'apply_patch_call'
      | 'apply_patch_call_output'
      | 'shell_call'
      | 'shell_call_output'
      | 'local_shell_call'
      | 'local_shell_call_output';
  }
>;

const nameOf = ({ name, namespace }: { name: string; namespace?: string | null | undefined }): string =>
  chatName({ name, namespace: namespace ?? null });
