import { ChoiceCounter, FEWER_CHOICES } from './choice-count.ts';
import { eventError } from './event-error.ts';
import { ABORTED, hasUnknownFinish, isAborted } from './incomplete-answer.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Why a streamed chat ends before its own end. `reported`: the bytes that were returned end with an error
 * event that every client understands. `error`: an error in a form of the engine. `aborted`: the finish
 * reason says that the engine gave up.
 */
export type StreamFault =
  | { readonly kind: 'reported' }
  | { readonly kind: 'error'; readonly error: Json }
  | { readonly kind: 'aborted' };

/** Maximum bytes of an unfinished event that wait for the rest. A longer event passes without inspection. */
const MAX_HELD_BYTES = 64 * 1024;
const [LINE_FEED, RETURN] = [10, 13];
const NOTHING = Buffer.alloc(0);
/** Texts without which an event with choices is neither an error nor aborted. */
const SUSPICIOUS = ['"error', 'event:', ...ABORTED.map((reason) => `"${reason}"`)] as const;

/**
 * Inspects the events of a streamed chat or completion while their bytes pass unchanged: finds errors in any
 * known form, removes the usage event that only the gateway requested, and names missing choices in a comment before
 * the end. Passes whole events only.
 */
export class ChatEventFilter {
  readonly #removesUsage: boolean;
  readonly #onRemoved: (event: Buffer) => void;
  #held: Buffer = NOTHING;
  /** The start of the current event has passed already. */
  #isInsideEvent = false;
  #fault: StreamFault | null = null;
  readonly #choices: ChoiceCounter | null;

  /** `onRemoved` receives each event that is removed. `choices` is the requested number. */
  constructor(removesUsage: boolean, onRemoved: (event: Buffer) => void, choices = 1) {
    this.#removesUsage = removesUsage;
    this.#onRemoved = onRemoved;
    this.#choices = choices > 1 ? new ChoiceCounter(choices) : null;
  }

  /** Why nothing may follow the bytes that were returned; null while the stream goes on. */
  get fault(): StreamFault | null {
    return this.#fault;
  }

  /** Returns the bytes that can be relayed now. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const relayed: Buffer[] = [];
    let [from, start] = [0, 0];
    for (let end = eventEnd(bytes, 0); end >= 0 && this.#fault === null; end = eventEnd(bytes, start)) {
      const isRelayed = this.#isInsideEvent || this.#keeps(bytes.subarray(start, end));
      if (this.#choices?.isShort && isEnd(bytes.subarray(start, end))) {
        relayed.push(bytes.subarray(from, start), FEWER_CHOICES);
        from = start;
      }
      this.#isInsideEvent = false;
      if (!isRelayed) {
        relayed.push(bytes.subarray(from, start));
        from = end;
      }
      start = end;
    }
    const isLong = bytes.length - start > MAX_HELD_BYTES;
    if (isLong || this.#isInsideEvent) {
      this.#isInsideEvent = true;
      start = bytes.length;
    }
    this.#held = this.#fault === null ? bytes.subarray(start) : NOTHING;
    const rest = bytes.subarray(from, start);
    return relayed.length === 0 ? rest : Buffer.concat([...relayed, rest]);
  }

  /** Returns the rest at the end of the stream: an event without a blank line. */
  end(): Buffer {
    const last = this.#held;
    this.#held = NOTHING;
    return last.length === 0 || this.#fault !== null || this.#keeps(last) ? last : NOTHING;
  }

  #keeps(event: Buffer): boolean {
    const text = event.toString('latin1');
    this.#choices?.read(fieldsOf(event).data);
    const hasUsage = this.#removesUsage && text.includes('"usage"');
    const hasChoices = text.includes('"choices"');
    if (hasChoices && !hasUsage && !SUSPICIOUS.some((each) => text.includes(each))) return true;
    const { name, data } = fieldsOf(event);
    if (data === '' || data === '[DONE]') return true;
    const value = parsed(data);
    this.#fault = faultOf(value, name, data);
    if (this.#fault !== null) return this.#fault.kind === 'reported';
    if (!hasUsage || !isUsageEvent(value)) return true;
    this.#onRemoved(event);
    return false;
  }
}

function faultOf(value: unknown, name: string, data: string): StreamFault | null {
  if (value === undefined) {
    const isMarkup = data.startsWith('<');
    return name === 'error' || isMarkup
      ? { kind: 'error', error: { message: isMarkup ? undefined : data } }
      : null;
  }
  const error = eventError(value, name);
  if (error !== null && hasUnknownFinish(value)) return { kind: 'aborted' };
  if (error !== null) return isStandard(value, error) ? { kind: 'reported' } : { kind: 'error', error };
  return isAborted(value) ? { kind: 'aborted' } : null;
}

/** Whether an event is the one that closes every stream of OpenAI. */
const isEnd = (event: Buffer): boolean => event.length < 32 && fieldsOf(event).data === '[DONE]';

/** Whether clients of OpenAI's API find the error where they look for it. */
const isStandard = (value: unknown, error: Json): boolean => (value as { error?: unknown }).error === error;

/** Whether an event contains token counts only. */
function isUsageEvent(value: unknown): boolean {
  const event = asObject(value);
  return asObject(event?.usage) !== undefined && Array.isArray(event?.choices) && event.choices.length === 0;
}

/** Returns the name and the data of one event. */
function fieldsOf(event: Buffer): { name: string; data: string } {
  let name = '';
  const data: string[] = [];
  for (const line of event.toString('utf8').split(/\r\n|\r|\n/)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).trimStart());
    else if (line.startsWith('event:')) name = line.slice('event:'.length).trim();
  }
  return { name, data: data.join('\n').trim() };
}

/** Returns the offset after the blank line that ends the event at `from`; -1 while it is unfinished. */
function eventEnd(bytes: Buffer, from: number): number {
  let lineStart = from;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== LINE_FEED && byte !== RETURN) continue;
    const isPair = byte === RETURN && bytes[at + 1] === LINE_FEED;
    const lineEnd = isPair ? at + 2 : at + 1;
    if (at === lineStart) return lineEnd;
    lineStart = lineEnd;
    at = lineEnd - 1;
  }
  return -1;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
