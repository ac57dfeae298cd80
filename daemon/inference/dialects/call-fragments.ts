import { GatewayError } from '../../contract/errors.ts';
import { ArgumentText } from './argument-text.ts';
import { asList, asObject, type Json } from './json.ts';
import { newId } from './new-id.ts';
import type { Piece } from './piece.ts';

/** Stores the fields of a call in addition to name and arguments. */
export type KeepExtra = (callId: string, extra: Json) => void;

/** Maximum calls of one response. */
const MAX_CALLS = 1_024;
/** Maximum characters of the arguments of one response. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** The key of the call in the old `function_call` field, of which a message has at most one. */
const FUNCTION_CALL = 'function_call';

/** One entry of `tool_calls`, in a chunk or in a complete message. */
interface Fragment {
  /** The engine's number of the call; null when it sends none. */
  readonly key: string | null;
  /** Empty when the engine sends none. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly extra: Json | undefined;
}

/** A call whose fragments are still arriving. */
interface OpenCall {
  /** The engine's number of the call; null when it sends none. */
  readonly key: string | null;
  /** The number of its pieces; null until its name is known. */
  index: number | null;
  id: string;
  name: string;
  extra: Json | undefined;
  /** Arguments that arrived before the name. */
  heldText: string;
  readonly args: ArgumentText;
}

/**
 * Assembles the calls of one response from fragments as engines send them: interleaved, with or without
 * numbers and ids, and with a name that arrives late.
 */
export class CallFragments {
  readonly #keep: KeepExtra | undefined;
  readonly #calls: OpenCall[] = [];
  readonly #byKey = new Map<string, OpenCall>();
  #started = 0;
  #characters = 0;

  /** `keep` receives the fields of calls that no piece carries. */
  constructor(keep?: KeepExtra) {
    this.#keep = keep;
  }

  /**
   * Returns the pieces of the calls in a delta, or in a message whose calls are complete. Throws `upstream.error`
   * for too many calls.
   */
  read(delta: Json, isWhole = false): Piece[] {
    const inThisChunk = new Set<OpenCall>();
    return fragmentsOf(delta).flatMap((fragment) => {
      const call = this.#find(fragment, inThisChunk) ?? this.#add(fragment);
      if (call === null) return [];
      inThisChunk.add(call);
      const pieces = this.#append(call, fragment);
      return isWhole ? [...pieces, ...this.#rest(call)] : pieces;
    });
  }

  /** Returns the pieces that were held, at the end of the response: also those of calls without a name. */
  end(): Piece[] {
    return this.#calls.flatMap((call) => this.#rest(call));
  }

  /**
   * Returns the piece numbers of the calls in the order of the engine's numbers, which are positions in the
   * complete answer; in the order of their starts without numbers.
   */
  order(): number[] {
    const started = this.#calls.flatMap(({ key, index }) =>
      index === null ? [] : [{ index, number: key === null ? Number.NaN : Number(key) }],
    );
    const isNumbered = started.every(({ number }) => Number.isFinite(number));
    return started
      .toSorted((a, b) => (isNumbered ? a.number - b.number : 0) || a.index - b.index)
      .map(({ index }) => index);
  }

  /** Returns the pieces of a call that were held. */
  #rest(call: OpenCall): Piece[] {
    const isUnnamed = call.index === null && !call.args.isEmpty;
    const text = call.args.end();
    if (isUnnamed) return this.#start(call, text);
    return call.index === null || text === '' ? [] : [{ type: 'arguments', index: call.index, text }];
  }

  #add({ key, id, name, text, extra }: Fragment): OpenCall | null {
    if (key === null && id === '' && name === '' && text === '') return null;
    if (this.#calls.length >= MAX_CALLS)
      throw new GatewayError('upstream.error', { message: 'The model makes too many tool calls at once.' });
    const args = new ArgumentText();
    const call: OpenCall = { key, index: null, id, name: '', extra, heldText: '', args };
    this.#calls.push(call);
    if (key !== null) this.#byKey.set(key, call);
    return call;
  }

  /** Returns the call that a fragment continues; undefined for a new call. */
  #find(fragment: Fragment, inThisChunk: ReadonlySet<OpenCall>): OpenCall | undefined {
    if (fragment.key !== null) {
      const call = this.#byKey.get(fragment.key);
      return call === undefined || isAnother(call, fragment, inThisChunk) ? undefined : call;
    }
    const known = fragment.id === '' ? undefined : this.#calls.findLast(({ id }) => id === fragment.id);
    if (known !== undefined) return inThisChunk.has(known) ? undefined : known;
    const last = this.#calls.at(-1);
    if (last === undefined) return undefined;
    if (inThisChunk.has(last)) return fragment.name === '' && fragment.id === '' ? last : undefined;
    return continuesLast(last, fragment) ? last : undefined;
  }

  #append(call: OpenCall, { id, name, text: sentText, extra }: Fragment): Piece[] {
    const text = call.args.push(sentText);
    this.#characters += sentText.length;
    if (this.#characters > MAX_CHARACTERS)
      throw new GatewayError('upstream.error', { message: 'The answer is too long.' });
    if (call.index === null) {
      call.id ||= id;
      call.name ||= name;
      call.extra ??= extra;
    } else if (extra) this.#keep?.(call.id, extra);
    if (call.index !== null) return text === '' ? [] : [{ type: 'arguments', index: call.index, text }];
    call.heldText += text;
    return call.name === '' ? [] : this.#start(call);
  }

  #start(call: OpenCall, more = ''): Piece[] {
    const { name, extra } = call;
    const heldText = call.heldText + more;
    const index = this.#started++;
    call.index = index;
    call.id ||= newId('call');
    call.heldText = '';
    if (extra) this.#keep?.(call.id, extra);
    const start: Piece = { type: 'call', index, id: call.id, name, ...(extra ? { extra } : {}) };
    return heldText === '' ? [start] : [start, { type: 'arguments', index, text: heldText }];
  }
}

/**
 * Returns whether a fragment under the number of `call` belongs to another call: Gemini and older Ollama
 * versions number every call 0.
 */
function isAnother(
  call: OpenCall,
  { id, name, text }: Fragment,
  inThisChunk: ReadonlySet<OpenCall>,
): boolean {
  if (name === '') return false;
  if (id !== '' && call.id !== '') return id !== call.id;
  if (call.name === '') return false;
  return inThisChunk.has(call) || (call.args.isComplete && text.trim() !== '');
}

/** Returns whether a fragment without a number and without a known id continues the last call. */
function continuesLast(last: OpenCall, { id, name }: Fragment): boolean {
  // Some engines send a new id with every fragment.
  if (name === '') return id === '' || !last.args.isComplete;
  if (last.name === '') return id === '' || last.id === '';
  const isRepeated = id === '' && name === last.name;
  return isRepeated && !last.args.isEmpty && !last.args.isComplete;
}

function fragmentsOf(delta: Json): Fragment[] {
  const calls = asList(delta.tool_calls);
  if (calls.length === 0) {
    const old = asObject(delta.function_call);
    return old === undefined ? [] : [fragmentOf({ index: FUNCTION_CALL }, old)];
  }
  return calls.flatMap((each) => {
    const call = asObject(each);
    const called = asObject(call?.function);
    return call && called ? [fragmentOf(call, called)] : [];
  });
}

const fragmentOf = (call: Json, called: Json): Fragment => ({
  key: typeof call.index === 'number' || typeof call.index === 'string' ? String(call.index) : null,
  id: textOf(call.id),
  name: textOf(called.name),
  text: argumentsOf(called.arguments),
  extra: asObject(call.extra_content),
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Some engines send an object instead of JSON text. An empty one is a placeholder for text that follows. */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  const isPlaceholder = asObject(value) !== undefined && Object.keys(value).length === 0;
  return isPlaceholder ? '' : JSON.stringify(value);
}
