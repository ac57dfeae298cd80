import type { Json } from '../json.ts';
import type { Content, InputItem, ResponsesBody } from './request-schema.ts';
import { INPUT_FIELD } from './tools.ts';

/** The messages of a chat that say the same as instructions and input items. */
export function chatMessages({ instructions, input }: Pick<ResponsesBody, 'instructions' | 'input'>): Json[] {
  const out = new Messages();
  if (typeof instructions === 'string' && instructions !== '')
    out.add({ role: 'system', content: instructions });
  for (const item of input) out.item(item);
  return out.all();
}

/** What the assistant thinks, says and calls in a row is one message of a chat. */
class Messages {
  readonly #all: Json[] = [];
  #turn: Json | null = null;

  add(message: Json): void {
    this.#turn = null;
    this.#all.push(message);
  }

  item(item: InputItem): void {
    if (item.type === 'message') this.#message(item);
    else if (item.type === 'reasoning') this.#think(item);
    else if (item.type === 'function_call') this.#call(item.call_id, item.name, item.arguments);
    else if (item.type === 'custom_tool_call')
      this.#call(item.call_id, item.name, JSON.stringify({ [INPUT_FIELD]: item.input }));
    else this.add({ role: 'tool', tool_call_id: item.call_id, content: contentOf(item.output) });
  }

  all(): Json[] {
    return this.#all;
  }

  #message({ role, content }: InputItem & { type: 'message' }): void {
    const said = contentOf(content);
    if (role !== 'assistant') {
      this.add({ role, content: said });
      return;
    }
    const open = this.#turn !== null && !('content' in this.#turn) && !('tool_calls' in this.#turn);
    const turn = open ? this.#open() : this.#begin();
    turn.content = said;
  }

  #think({ content, summary }: InputItem & { type: 'reasoning' }): void {
    const thoughts = (content?.length ? content : (summary ?? [])).map(({ text }) => text).join('\n');
    if (thoughts !== '') this.#begin().reasoning_content = thoughts;
  }

  #call(id: string, name: string, text: string): void {
    const turn = this.#open();
    const calls = (turn.tool_calls ?? []) as Json[];
    turn.tool_calls = [...calls, { id, type: 'function', function: { name, arguments: text } }];
    turn.content ??= null;
  }

  #open(): Json {
    return this.#turn ?? this.#begin();
  }

  #begin(): Json {
    const turn: Json = { role: 'assistant' };
    this.#all.push(turn);
    this.#turn = turn;
    return turn;
  }
}

/** A text where the parts are texts only: every engine and template reads that. */
function contentOf(content: Content): unknown {
  if (content.every((part) => part.type !== 'input_image')) return content.map(textOf).join('');
  return content.map((part) =>
    part.type === 'input_image'
      ? {
          type: 'image_url',
          image_url: { url: part.image_url, ...(part.detail ? { detail: part.detail } : {}) },
        }
      : { type: 'text', text: textOf(part) },
  );
}

const textOf = (part: Content[number]): string =>
  part.type === 'refusal' ? part.refusal : part.type === 'input_image' ? '' : part.text;
