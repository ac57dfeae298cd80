import { from, type Places } from '../callers-words.ts';
import type { Json } from '../json.ts';
import { noteOrigin } from '../thought-origin.ts';
import type { Content, InputItem, ResponsesBody } from './request-schema.ts';
import { INPUT_FIELD } from './tools.ts';

/** The messages of a chat that say the same as instructions and input items. */
export function chatMessages(
  { instructions, input }: Pick<ResponsesBody, 'instructions' | 'input'>,
  places: Places,
): Json[] {
  const out = new Messages(places);
  if (typeof instructions === 'string' && instructions !== '')
    out.add({ role: 'system', content: instructions }, 'instructions');
  for (const [at, item] of input.entries()) out.item(item, `input.${at}`);
  return out.all();
}

/** What the assistant thinks, says and calls in a row is one message of a chat. */
class Messages {
  readonly #all: Json[] = [];
  #turn: Json | null = null;
  readonly #places: Places;
  /** The place of the item that is read. */
  #place = '';

  constructor(places: Places) {
    this.#places = places;
  }

  add(message: Json, place: string): void {
    this.#turn = null;
    this.#all.push(from(this.#places, place, message));
  }

  item(item: InputItem, place: string): void {
    this.#place = place;
    if (item.type === 'message') this.#message(item);
    else if (item.type === 'reasoning') this.#think(item);
    else if (item.type === 'function_call') this.#call(item.call_id, item.name, item.arguments);
    else if (item.type === 'custom_tool_call')
      this.#call(item.call_id, item.name, JSON.stringify({ [INPUT_FIELD]: item.input }));
    else {
      const content = contentOf(item.output, `${place}.output`, this.#places);
      this.add({ role: 'tool', tool_call_id: item.call_id, content }, place);
    }
  }

  all(): Json[] {
    return this.#all;
  }

  #message({ role, content }: InputItem & { type: 'message' }): void {
    const glue = role === 'assistant' ? '' : LINES;
    const said = contentOf(content, `${this.#place}.content`, this.#places, glue);
    if (role !== 'assistant') {
      this.add({ role, content: said }, this.#place);
      return;
    }
    const open = this.#turn !== null && !('content' in this.#turn) && !('tool_calls' in this.#turn);
    const turn = open ? this.#open() : this.#begin();
    turn.content = said;
  }

  #think({ content, summary, encrypted_content: mark }: InputItem & { type: 'reasoning' }): void {
    const thoughts = (content?.length ? content : (summary ?? [])).map(({ text }) => text).join('\n');
    if (thoughts === '') return;
    const turn = this.#begin();
    turn.reasoning_content = thoughts;
    noteOrigin(turn, mark);
  }

  #call(id: string, name: string, text: string): void {
    const turn = this.#open();
    const calls = (turn.tool_calls ?? []) as Json[];
    const call = { id, type: 'function', function: { name, arguments: text } };
    turn.tool_calls = [...calls, from(this.#places, this.#place, call)];
    turn.content ??= null;
  }

  #open(): Json {
    return this.#turn ?? this.#begin();
  }

  #begin(): Json {
    const turn: Json = from(this.#places, this.#place, { role: 'assistant' });
    this.#all.push(turn);
    this.#turn = turn;
    return turn;
  }
}

/** Parts that somebody wrote are texts of their own; those of an answer are pieces of one text. */
const LINES = '\n';

/** A text where the parts are texts only: every engine and template reads that. `glue` stands between two of them. */
function contentOf(content: Content, place: string, places: Places, glue = LINES): unknown {
  if (content.every((part) => part.type !== 'input_image')) return content.map(textOf).join(glue);
  return content.map((part, at) => from(places, `${place}.${at}`, chatPart(part)));
}

function chatPart(part: Content[number]): Json {
  if (part.type !== 'input_image') return { type: 'text', text: textOf(part) };
  const { image_url: url, detail } = part;
  return { type: 'image_url', image_url: { url, ...(detail ? { detail } : {}) } };
}

const textOf = (part: Content[number]): string =>
  part.type === 'refusal' ? part.refusal : part.type === 'input_image' ? '' : part.text;
