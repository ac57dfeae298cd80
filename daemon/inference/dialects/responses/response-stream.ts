import { GatewayError } from '../../../contract/errors.ts';
import type { Json } from '../json.ts';
import { newId } from '../new-id.ts';
import type { ChatUsage, Piece, TextKind, ThoughtField } from '../piece.ts';
import { reasoningMark } from '../reasoning-signature.ts';
import {
  type CallNames,
  customItem,
  functionItem,
  type Item,
  localShellItem,
  patchItem,
  reasoningItem,
  searchItem,
  shellItem,
  textItem,
} from './items.ts';
import type { Conversation } from './references.ts';
import { type Progress, type ResponseHead, responseObject } from './response-object.ts';
import type { KnownTool } from './tool-names.ts';

/** Maximum characters of one response; its last event repeats all of them. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

const ID_OF: Readonly<Record<TextKind, string>> = { text: 'msg', refusal: 'msg', reasoning: 'rs' };

/** The id prefix and the item of a call, by kind of tool. */
const CALLS: Readonly<
  Record<KnownTool['kind'], readonly [prefix: string, item: (names: CallNames) => Item]>
> = {
  function: ['fc', functionItem],
  custom: ['ctc', customItem],
  search: ['tsc', searchItem],
  local_shell: ['lsh', localShellItem],
  shell: ['sh', shellItem],
  apply_patch: ['apc', patchItem],
};

/** Why a truncated response is incomplete, by the finish reason of the chat. */
const INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

interface OpenItem {
  readonly item: Item;
  readonly id: string;
  /** Its kind of text, or the index of its call. */
  readonly what: TextKind | number;
}

/** Builds one response from chat pieces and emits its events in OpenAI's order, numbered without a gap. */
export class ResponseStream {
  readonly #head: ResponseHead;
  readonly #body: Conversation;
  readonly #tools: ReadonlyMap<string, KnownTool>;
  readonly #send: (event: Json) => void;
  #sequence = 0;
  readonly #output: Json[] = [];
  #open: OpenItem | null = null;
  #characters = 0;
  #usage: ChatUsage | null = null;
  #finish: string | null = null;

  constructor(
    head: ResponseHead,
    body: Conversation,
    tools: ReadonlyMap<string, KnownTool>,
    emit: (event: Json) => void,
  ) {
    this.#head = head;
    this.#body = body;
    this.#tools = tools;
    this.#send = emit;
  }

  /** Whether the chat has reported its finish reason. */
  get finished(): boolean {
    return this.#finish !== null;
  }

  begin(): void {
    this.#emitResponse('response.created', { status: 'in_progress' });
    this.#emitResponse('response.in_progress', { status: 'in_progress' });
  }

  /** Throws `upstream.error` for a response above the limit or with calls out of order. */
  add(piece: Piece): void {
    if (piece.type === 'finish') this.#finish = piece.reason;
    else if (piece.type === 'usage') this.#usage = piece.usage;
    else if (piece.type === 'call') this.#call(piece);
    else if (piece.type === 'arguments') this.#text(piece.index, piece.text);
    else this.#text(piece.type, piece.text, piece.field);
  }

  /** Emits the last event and returns the final response. */
  end(): Json {
    const reason = INCOMPLETE[this.#finish ?? ''];
    this.#close(reason === undefined ? 'completed' : 'incomplete');
    const status = reason === undefined ? 'completed' : 'incomplete';
    return this.#emitResponse(`response.${status}`, { status, reason });
  }

  /** Emits `response.failed` with the partial output. It is the last event: clients report a second error twice. */
  fail({ code, message }: { code: string; message: string }): void {
    this.#close('incomplete');
    this.#emitResponse('response.failed', { status: 'failed', error: { code, message } });
  }

  #call({ index, id, name }: Piece & { type: 'call' }): void {
    const tool = this.#tools.get(name) ?? { kind: 'function', name, namespace: null };
    const [prefix, item] = CALLS[tool.kind];
    const own = newId(prefix);
    this.#begin({ id: own, what: index, item: item({ ...tool, id: own, callId: id }) });
  }

  #text(what: TextKind | number, text: string, field?: ThoughtField): void {
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS)
      throw new GatewayError('upstream.error', { message: 'The answer is too long.' });
    if (this.#open?.what !== what) {
      if (typeof what === 'number') throw outOfOrder();
      const id = newId(ID_OF[what]);
      const item = what === 'reasoning' ? this.#reasoning(id, field) : textItem(what, id);
      this.#begin({ id, what, item });
    }
    this.#open?.item.add(text, this.#itemEmitter());
  }

  #reasoning(id: string, field: ThoughtField | undefined): Item {
    const { summary } = this.#body.reasoning ?? {};
    const hasSummary = typeof summary === 'string' && summary !== 'none';
    return reasoningItem(id, { hasSummary, encrypted: (text) => reasoningMark(this.#head, field, text) });
  }

  #begin(open: OpenItem): void {
    this.#close('completed');
    this.#open = open;
    this.#emitEvent('response.output_item.added', {
      output_index: this.#output.length,
      item: open.item.initial(),
    });
  }

  #close(status: 'completed' | 'incomplete'): void {
    if (this.#open === null) return;
    const item = this.#open.item.close(status, this.#itemEmitter());
    this.#open = null;
    this.#emitEvent('response.output_item.done', { output_index: this.#output.length, item });
    this.#output.push(item);
  }

  #itemEmitter() {
    const item_id = this.#open?.id;
    const output_index = this.#output.length;
    return (type: string, fields: Json) => this.#emitEvent(type, { item_id, output_index, ...fields });
  }

  #emitResponse(type: string, progress: Partial<Progress> & Pick<Progress, 'status'>): Json {
    const fields = { output: [...this.#output], usage: this.#usage, ...progress };
    const response = responseObject(this.#head, this.#body, fields);
    this.#emitEvent(type, { response });
    return response;
  }

  #emitEvent(type: string, fields: Json): void {
    this.#send({ type, sequence_number: this.#sequence++, ...fields });
  }
}

const outOfOrder = () =>
  new GatewayError('upstream.error', { message: 'The engine went back to a call that it had left.' });
