import { type SourcePaths, tagSource } from '../error-paths.ts';
import { asObject, type Json } from '../json.ts';
import { recordOrigin } from '../reasoning-signature.ts';
import { declaredTools } from './declared-tools.ts';
import type { Content, InputItem, ResponsesBody } from './request-schema.ts';
import { chatName } from './tool-names.ts';
import { INPUT_FIELD, SEARCH } from './tools.ts';

/** The messages of a chat that say the same as instructions and input items. */
export function chatMessages(
  { instructions, input }: Pick<ResponsesBody, 'instructions' | 'input'>,
  places: SourcePaths,
): Json[] {
  const out = new Messages(places);
  if (typeof instructions === 'string' && instructions !== '')
    out.add({ role: 'system', content: instructions }, 'instructions');
  for (const [at, item] of input.entries()) out.item(item, `input.${at}`);
  return out.all();
}

/**
 * What the assistant thinks, says and calls in a row is one message of a chat. While a call of it has no result yet, so is
 * what comes after the call: providers refuse a chat in which anything stands between the two.
 */
class Messages {
  readonly #all: Json[] = [];
  #turn: Json | null = null;
  /** Calls of the turn whose results have not come. */
  readonly #pendingCalls = new Set<string>();
  readonly #places: SourcePaths;
  /** Pictures of results, which providers refuse in a message of a tool: the user shows them after the last one in a row. */
  #images: Json[] = [];
  #imagesPath = '';
  /** The place of the item that is read. */
  #path = '';

  constructor(places: SourcePaths) {
    this.#places = places;
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
    const said = contentOf(content, `${this.#path}.content`, this.#places, glue);
    if (role !== 'assistant') {
      this.add({ role, content: said }, this.#path);
      return;
    }
    const turn = this.#textTurn();
    turn.content = joined(turn.content, said);
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
    // Pushed, not copied: a request may hold very many calls in a row.
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

  /** What was found is among the tools of the chat: here it is only named. */
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

  /** The turn to which words and thoughts belong: one that has thoughts only or waits for results, else a new one. */
  #textTurn(): Json {
    const begun = this.#turn !== null && !('content' in this.#turn);
    return begun || this.#pendingCalls.size > 0 ? this.#open() : this.#begin();
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

/** Parts that somebody wrote are texts of their own; those of an answer are pieces of one text. */
const LINES = '\n';

/** What a turn has said before and what it goes on with. A list of `before` is the turn's own, and grows. */
function joined(before: unknown, more: unknown): unknown {
  if (before === undefined || before === null || before === '') return more;
  if (typeof before === 'string' && typeof more === 'string') return before + LINES + more;
  const parts = partsOf(before);
  for (const part of partsOf(more)) parts.push(part);
  return parts;
}

const partsOf = (content: unknown): unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content as unknown[]);

/** A text where the parts are texts only: every engine and template reads that. `glue` stands between two of them. */
function contentOf(content: Content, place: string, places: SourcePaths, glue = LINES): unknown {
  if (!content.some(isImage)) return textsOf(content, glue);
  return content.map((part, at) => tagSource(places, `${place}.${at}`, chatPart(part)));
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
