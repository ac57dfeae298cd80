import { type SourcePaths, tagSource } from '../error-paths.ts';
import { asObject, type Json } from '../json.ts';
import { recordOrigin } from '../reasoning-signature.ts';
import { declaredTools } from './declared-tools.ts';
import type { Content, InputItem, ResponsesBody } from './request-schema.ts';
import { chatName } from './tool-names.ts';
import { INPUT_FIELD, SEARCH } from './tools.ts';

/** Translates instructions and input items to the messages of a chat. */
export function chatMessages(
  { instructions, input }: Pick<ResponsesBody, 'instructions' | 'input'>,
  sources: SourcePaths,
): Json[] {
  const out = new Messages(sources);
  if (typeof instructions === 'string' && instructions !== '')
    out.add({ role: 'system', content: instructions }, 'instructions');
  for (const [at, item] of input.entries()) out.item(item, `input.${at}`);
  return out.all();
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

  constructor(sources: SourcePaths) {
    this.#places = sources;
  }

  add(message: Json, place: string): void {
    this.#turn = null;
    this.#pendingCalls.clear();
    this.#flushImages();
    this.#all.push(tagSource(this.#places, place, message));
  }

  item(item: InputItem, place: string): void {
    this.#path = place;
    if (item.type === 'message') this.#message(item);
    else if (item.type === 'reasoning') this.#reasoning(item);
    else if (item.type === 'function_call') this.#call(item.call_id, nameOf(item), item.arguments);
    else if (item.type === 'custom_tool_call')
      this.#call(item.call_id, nameOf(item), JSON.stringify({ [INPUT_FIELD]: item.input }));
    else if (item.type === 'tool_search_call') this.#search(item);
    else if (item.type === 'tool_search_output') this.#searchResult(item);
    else if (item.type !== 'additional_tools') this.#result(item);
  }

  all(): Json[] {
    this.#flushImages();
    return this.#all;
  }

  #message({ role, content }: InputItem & { type: 'message' }): void {
    const glue = role === 'assistant' ? '' : LINES;
    const chatContent = contentOf(content, `${this.#path}.content`, this.#places, glue);
    if (role !== 'assistant') {
      this.add({ role, content: chatContent }, this.#path);
      return;
    }
    const turn = this.#textTurn();
    turn.content = joined(turn.content, chatContent);
  }

  #reasoning({ content, summary, encrypted_content: mark }: InputItem & { type: 'reasoning' }): void {
    const thoughts = (content?.length ? content : (summary ?? [])).map(({ text }) => text).join('\n');
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
    for (const [at, part] of output.entries()) if (isImage(part)) this.#collectImage(part, at);
    this.#answer(call_id, textsOf(output));
  }

  #search({ call_id: id, arguments: args }: InputItem & { type: 'tool_search_call' }): void {
    if (id) this.#call(id, SEARCH.name, JSON.stringify(asObject(args) ?? {}));
  }

  /** The tools themselves are in the tools of the chat; the message only names them. */
  #searchResult({ call_id: id, tools }: InputItem & { type: 'tool_search_output' }): void {
    const names = declaredTools({ input: [], tools }).flatMap(({ tool: { name }, namespace }) =>
      name ? [chatName({ name, namespace })] : [],
    );
    if (id) this.#answer(id, names.length === 0 ? 'No tools found.' : `Tools found: ${names.join(', ')}`);
  }

  #answer(id: string, content: string): void {
    this.#all.push(tagSource(this.#places, this.#path, { role: 'tool', tool_call_id: id, content }));
    this.#pendingCalls.delete(id);
    if (this.#pendingCalls.size === 0) this.#turn = null;
  }

  #collectImage(part: Content[number], at: number): void {
    if (this.#images.length === 0) this.#imagesPath = this.#path;
    this.#images.push(tagSource(this.#places, `${this.#path}.output.${at}`, chatPart(part)));
  }

  #flushImages(): void {
    if (this.#images.length === 0) return;
    this.#all.push(tagSource(this.#places, this.#imagesPath, { role: 'user', content: this.#images }));
    this.#images = [];
  }

  #open(): Json {
    return this.#turn ?? this.#begin();
  }

  /** Returns the turn for text and reasoning: one with reasoning only or pending calls, else a new one. */
  #textTurn(): Json {
    const hasStarted = this.#turn !== null && !('content' in this.#turn);
    return hasStarted || this.#pendingCalls.size > 0 ? this.#open() : this.#begin();
  }

  #begin(): Json {
    this.#flushImages();
    const turn: Json = tagSource(this.#places, this.#path, { role: 'assistant' });
    this.#all.push(turn);
    this.#turn = turn;
    return turn;
  }
}

const nameOf = ({ name, namespace }: { name: string; namespace?: string | null | undefined }): string =>
  chatName({ name, namespace: namespace ?? null });

/** Separates the parts of written input; parts of a response are joined without it. */
const LINES = '\n';

/** Joins earlier and later content of a turn. A list in `before` belongs to the turn and is extended. */
function joined(before: unknown, more: unknown): unknown {
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
function contentOf(content: Content, place: string, sources: SourcePaths, glue = LINES): unknown {
  if (!content.some(isImage)) return textsOf(content, glue);
  return content.map((part, at) => tagSource(sources, `${place}.${at}`, chatPart(part)));
}

const isImage = (part: Content[number]): boolean => part.type === 'input_image';

const textsOf = (content: Content, glue = LINES): string =>
  content
    .filter((part) => !isImage(part))
    .map(textOf)
    .join(glue);

function chatPart(part: Content[number]): Json {
  if (part.type !== 'input_image') return { type: 'text', text: textOf(part) };
  const { image_url: url, detail } = part;
  return { type: 'image_url', image_url: { url, ...(detail ? { detail } : {}) } };
}

const textOf = (part: Content[number]): string =>
  part.type === 'refusal' ? part.refusal : part.type === 'input_image' ? '' : part.text;
