import { SERVER_EVENTS, type ServerEvent } from '../../../contract/realtime.ts';

type Fields = Record<string, unknown>;

interface OpenItem {
  id: string;
  index: number;
  kind: 'message' | 'function_call';
  part: 'none' | 'open' | 'closed';
  text: string;
  sounds: number;
  done: Set<string>;
}

interface OpenResponse {
  id: string;
  isOutOfBand: boolean;
  next: number;
  item: OpenItem | null;
  output: unknown[];
}

/**
 * Checks the order of the events of one session and throws at the first violation. States independently of
 * the implementation what clients rely on: order, ids and completeness.
 */
export class OrderChecker {
  readonly events: ServerEvent[] = [];
  readonly #ids = new Set<string>();
  readonly #items: string[] = [];
  readonly #transcribed = new Set<string>();
  #speech: string | null = null;
  #input = { found: false, format: '' };
  readonly #responses = new Map<string, OpenResponse>();

  accept(event: ServerEvent): void {
    try {
      this.#check(event);
    } catch (error) {
      const tail = [...this.events.slice(-12), event].map((each) => JSON.stringify(each).slice(0, 200));
      throw new Error(`${(error as Error).message}\n${tail.join('\n')}`);
    }
    this.events.push(event);
  }

  /** Whether a response is active. */
  get active(): boolean {
    return this.#responses.size > 0;
  }

  #check(event: ServerEvent): void {
    assert(SERVER_EVENTS.includes(event.type), 'the type is none of GA');
    assert(!this.#ids.has(event.event_id), 'an event_id was used twice');
    this.#ids.add(event.event_id);
    const first = this.events.length === 0;
    assert(first === (event.type === 'session.created'), 'session.created comes first, and once');
    const before = this.events.at(-1);
    if (before?.type === 'input_audio_buffer.committed')
      assert(
        event.type === 'conversation.item.added' && itemOf(event).id === before.item_id,
        'committed is followed by its item',
      );
    if (event.type.startsWith('session.')) this.#settings(event);
    if (event.type.startsWith('conversation.item.')) this.#item(event);
    if (event.type.startsWith('input_audio_buffer.')) this.#buffer(event);
    if (event.type.startsWith('response.')) this.#answer(event);
  }

  #item(event: ServerEvent): void {
    if (event.type === 'conversation.item.added') {
      const { id } = itemOf(event);
      assert(!this.#items.includes(id), 'an item was added twice');
      const previous = event.previous_item_id as string | null;
      const at = previous === null ? 0 : this.#items.indexOf(previous) + 1;
      assert(previous === null || at > 0, 'previous_item_id leads nowhere');
      this.#items.splice(at, 0, id);
      return;
    }
    const id =
      event.type === 'conversation.item.done' || event.type === 'conversation.item.retrieved'
        ? itemOf(event).id
        : (event.item_id as string);
    assert(this.#items.includes(id), 'the item is not in the conversation');
    if (event.type === 'conversation.item.deleted') this.#items.splice(this.#items.indexOf(id), 1);
    if (/transcription\.(completed|failed)$/.test(event.type)) {
      assert(!this.#transcribed.has(id), 'an item was transcribed twice');
      this.#transcribed.add(id);
    }
    if (event.type.endsWith('transcription.delta'))
      assert(!this.#transcribed.has(id), 'a delta after the end');
  }

  #buffer(event: ServerEvent): void {
    const id = event.item_id as string;
    if (event.type.endsWith('speech_started')) {
      assert(this.#speech === null, 'speech has started already');
      this.#speech = id;
    }
    if (event.type.endsWith('speech_stopped'))
      assert(this.#speech === id, 'other speech stopped than had started');
    if (event.type.endsWith('committed')) {
      assert(this.#speech === null || this.#speech === id, 'other speech was committed than had started');
      assert(event.previous_item_id === (this.#items.at(-1) ?? null), 'committed after another item');
      this.#speech = null;
    }
    if (event.type.endsWith('cleared')) this.#speech = null;
  }

  /** Turn detection that was off, or a changed format, restarts speech detection. */
  #settings(event: ServerEvent): void {
    const { audio } = event.session as { audio: { input: { turn_detection: unknown; format: unknown } } };
    const { turn_detection, format } = audio.input;
    const last = this.#input;
    this.#input = { found: turn_detection !== null, format: JSON.stringify(format) };
    if (last.format !== this.#input.format || (!last.found && this.#input.found)) this.#speech = null;
  }

  #answer(event: ServerEvent) {
    if (event.type === 'response.created') {
      const { id, status, conversation_id } = event.response as Fields;
      assert(!this.#responses.has(id as string), 'an answer was created twice');
      assert(status === 'in_progress', 'a new answer is in progress');
      // One at a time in the conversation; others run in parallel.
      const isOutOfBand = conversation_id === null;
      const others = [...this.#responses.values()].filter((each) => !each.isOutOfBand);
      assert(isOutOfBand || others.length === 0, 'two answers at once');
      this.#responses.set(id as string, { id: id as string, isOutOfBand, next: 0, item: null, output: [] });
      return;
    }
    const id = event.type === 'response.done' ? (event.response as Fields).id : event.response_id;
    const open = this.#responses.get(id as string);
    if (open === undefined) throw new Error('no answer goes on');
    if (event.type === 'response.done') return this.#done(open, event.response as Fields);
    if (event.type === 'response.output_item.added') return added(open, event);
    const item = open.item;
    if (item === null) throw new Error('no item is open');
    assert(event.output_index === item.index, 'output_index is wrong');
    if (event.type === 'response.output_item.done') return closed(open, item, itemOf(event));
    assert(event.item_id === item.id, 'an event of another item');
    if (item.kind === 'message') message(item, event);
    else call(item, event);
  }

  #done(open: OpenResponse, response: Fields): void {
    assert(open.item === null, 'an item is still open');
    assert(JSON.stringify(response.output) === JSON.stringify(open.output), 'output is not what was sent');
    assert(
      ['completed', 'cancelled', 'failed', 'incomplete'].includes(response.status as string),
      'unknown status',
    );
    this.#responses.delete(open.id);
  }
}

function added(open: OpenResponse, event: ServerEvent): void {
  assert(open.item === null, 'an item is still open');
  assert(event.output_index === open.next, 'output_index does not count');
  const { id, type } = itemOf(event);
  open.item = {
    id,
    index: open.next++,
    kind: type as OpenItem['kind'],
    part: 'none',
    text: '',
    sounds: 0,
    done: new Set(),
  };
}

function closed(open: OpenResponse, item: OpenItem, whole: { id: string; type: string }): void {
  assert(whole.id === item.id, 'another item is done');
  const done = item.kind === 'message' ? item.part === 'closed' : item.done.has('arguments');
  assert(done, 'an item ends before its parts');
  open.output.push(whole);
  open.item = null;
}

function message(item: OpenItem, event: ServerEvent): void {
  assert(event.content_index === 0, 'content_index is wrong');
  if (event.type === 'response.content_part.added') {
    assert(item.part === 'none', 'a part was added twice');
    item.part = 'open';
    return;
  }
  assert(item.part === 'open', 'no part is open');
  if (event.type === 'response.content_part.done') {
    const { type } = event.part as { type: string };
    const expected = type === 'text' ? ['text'] : ['audio', 'transcript'];
    assert(
      expected.every((each) => item.done.has(each)),
      'a part ends before its streams',
    );
    item.part = 'closed';
    return;
  }
  const [, stream = '', end] =
    /^response\.output_(?:audio_)?(text|audio|transcript)\.(delta|done)$/.exec(event.type) ?? [];
  assert(stream !== '', 'no event of a message');
  assert(!item.done.has(stream), 'more after the end');
  if (end === 'delta' && stream !== 'audio') item.text += event.delta as string;
  if (end === 'delta') assert(event.delta !== '', 'an empty delta');
  if (end === 'done') item.done.add(stream);
  const whole = stream === 'text' ? event.text : event.transcript;
  if (end === 'done' && stream !== 'audio')
    assert(whole === item.text, 'the whole is not the sum of its deltas');
}

function call(item: OpenItem, event: ServerEvent): void {
  assert(event.type.startsWith('response.function_call_arguments.'), 'no event of a call');
  assert(!item.done.has('arguments'), 'more after the end');
  if (event.type.endsWith('delta')) item.text += event.delta as string;
  else {
    assert(event.arguments === item.text, 'the arguments are not the sum of their deltas');
    item.done.add('arguments');
  }
}

const itemOf = (event: ServerEvent): { id: string; type: string } =>
  event.item as { id: string; type: string };

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(`out of order: ${what}`);
}
