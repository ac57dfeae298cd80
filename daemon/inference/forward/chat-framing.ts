import { GatewayError } from '../../contract/errors.ts';
import type { StreamBlock } from '../../contract/event-stream.ts';
import { sseData } from '../../lib/net/sse.ts';
import { CallFragments } from '../dialects/call-fragments.ts';
import { asList, asObject, type Json, parsed } from '../dialects/json.ts';
import type { Piece } from '../dialects/piece.ts';
import { engineEvents } from '../engine-events.ts';
import { appendedContent } from './appended-content.ts';
import { errorInside200 } from './engine-error.ts';
import { eventError } from './event-error.ts';
import { answerAborted, endedEarly } from './failure.ts';
import { isAborted } from './incomplete-answer.ts';

const DONE = 'data: [DONE]\n\n';

/** Fields of an answer that are set once per choice, or that only one of both forms has. */
const CHOICE_FIELDS = ['index', 'message', 'delta', 'text', 'finish_reason', 'logprobs'] as const;

/**
 * Converts a complete chat or completion to the events of a streamed one, usage included; null for any other
 * body.
 */
export function chatEvents(bytes: Buffer): string | null {
  const body = asObject(parsed(bytes.toString('utf8')));
  const choices = asList(body?.choices).map(asObject);
  if (body === undefined || choices.length === 0 || !choices.every(isWholeChoice)) return null;
  const { choices: _, usage, object: __, ...fields } = body;
  const isChat = choices.some((choice) => asObject(choice?.message));
  const head = { ...fields, object: isChat ? 'chat.completion.chunk' : 'text_completion' };
  const event = (more: Json): string => sseData({ ...head, ...more });
  return [
    ...choices.flatMap((choice, position) => choiceChunks(choice ?? {}, position)).map(event),
    ...(asObject(usage) ? [event({ choices: [], usage })] : []),
    DONE,
  ].join('');
}

const isWholeChoice = (choice: Json | undefined): boolean =>
  asObject(choice?.message) !== undefined || typeof choice?.text === 'string';

/** Returns the chunks of one choice: its content, then its finish reason. */
function choiceChunks(choice: Json, position: number): Json[] {
  const { message, text, finish_reason, logprobs } = choice;
  const index = typeof choice.index === 'number' ? choice.index : position;
  const reason = finish_reason ?? 'stop';
  const extra = logprobs === undefined ? {} : { logprobs };
  const whole = asObject(message);
  if (whole === undefined) return [{ choices: [{ index, text, ...extra, finish_reason: reason }] }];
  const tools = asList(whole.tool_calls);
  const delta = {
    ...whole,
    ...(tools.length === 0
      ? {}
      : { tool_calls: tools.map((call, number) => ({ index: number, ...asObject(call) })) }),
  };
  const rest = Object.entries(choice).filter(
    ([name]) => !(CHOICE_FIELDS as readonly string[]).includes(name),
  );
  return [
    { choices: [{ index, delta, ...extra, finish_reason: null }] },
    { choices: [{ index, delta: {}, finish_reason: reason, ...Object.fromEntries(rest) }] },
  ];
}

/** Maximum bytes of a stream that becomes a complete answer. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;

/** Assembles the complete answer from the events of a streamed chat or completion. */
export class ChatAssembler {
  readonly #reader = engineEvents();
  readonly #choices = new Map<number, ChoiceAssembler>();
  #fields: Json = {};
  #usage: Json | undefined;
  #bytes = 0;
  #isDone = false;

  /** Throws the error that an event reports, and `upstream.error` for a stream that cannot be read. */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_STREAM_BYTES)
      throw new GatewayError('upstream.error', { message: 'The answer of the engine is too long.' });
    for (const block of this.#reader.push(chunk)) this.#read(block);
  }

  /** Returns the complete answer as JSON. Throws like `push`, and for a stream without its end. */
  end(): Buffer {
    for (const block of this.#reader.end()) this.#read(block);
    const choices = [...this.#choices.values()];
    const isFinished = choices.length > 0 && choices.every(({ finish }) => finish !== null);
    if (choices.length === 0 || !(this.#isDone || isFinished)) throw endedEarly();
    const isText = choices.some(({ isText: hasText }) => hasText);
    const body = {
      ...this.#fields,
      object: isText ? 'text_completion' : 'chat.completion',
      choices: choices.toSorted((a, b) => a.index - b.index).map((choice) => choice.result()),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
    };
    return Buffer.from(JSON.stringify(body));
  }

  #read(block: StreamBlock): void {
    if ('comment' in block || block.data.trim() === '') return;
    if (block.data.trim() === '[DONE]') {
      this.#isDone = true;
      return;
    }
    const value = parsed(block.data);
    const error = eventError(value ?? block.data, block.event);
    if (error !== null) throw errorInside200(Buffer.from(JSON.stringify({ error })), false);
    if (isAborted(value)) throw answerAborted();
    const event = asObject(value);
    if (event === undefined)
      throw new GatewayError('upstream.error', { message: 'An event of the engine is not valid JSON.' });
    const { choices, usage, object: _, ...fields } = event;
    this.#fields = { ...fields, ...this.#fields };
    this.#usage = asObject(usage) ?? this.#usage;
    for (const choice of asList(choices)) this.#choice(asObject(choice) ?? {});
  }

  #choice(choice: Json): void {
    const index = typeof choice.index === 'number' ? choice.index : 0;
    const known = this.#choices.get(index) ?? new ChoiceAssembler(index);
    this.#choices.set(index, known);
    known.add(choice);
  }
}

type AssembledCall = { readonly piece: Piece & { type: 'call' }; text: string };

/** Assembles one choice. */
class ChoiceAssembler {
  readonly index: number;
  readonly #fragments = new CallFragments((callId, extra) => this.#extras.set(callId, extra));
  readonly #extras = new Map<string, Json>();
  readonly #calls: AssembledCall[] = [];
  #message: Json = {};
  #content: unknown;
  #rest: Json = {};
  #text: string | null = null;
  #logprobs: unknown;
  finish: string | null = null;

  constructor(index: number) {
    this.index = index;
  }

  /** It belongs to a completion. */
  get isText(): boolean {
    return this.#text !== null;
  }

  add(choice: Json): void {
    const { index: _, delta, message, text, finish_reason, logprobs, ...rest } = choice;
    if (typeof text === 'string') this.#text = (this.#text ?? '') + text;
    if (typeof finish_reason === 'string' && finish_reason !== '') this.finish = finish_reason;
    this.#logprobs = merged(this.#logprobs, logprobs);
    this.#rest = { ...this.#rest, ...rest };
    const part = asObject(delta) ?? asObject(message);
    if (part === undefined) return;
    const { tool_calls, role, content, ...fields } = part;
    if (typeof role === 'string') this.#message = { role, ...this.#message };
    if (asList(tool_calls).length > 0) this.#collect(this.#fragments.read({ tool_calls }));
    this.#content = appendedContent(this.#content, content);
    for (const [name, value] of Object.entries(fields))
      this.#message[name] = merged(this.#message[name], value);
  }

  result(): Json {
    this.#collect(this.#fragments.end());
    const end = { logprobs: this.#logprobs ?? null, finish_reason: this.finish ?? 'stop', ...this.#rest };
    if (this.#text !== null) return { index: this.index, text: this.#text, ...end };
    const fields = this.#message;
    const content = this.#content;
    const isEmpty = content === undefined || content === null || content === '';
    const calls = this.#fragments.order().flatMap((index) => {
      const call = this.#calls[index];
      return call === undefined ? [] : [this.#callOf(call)];
    });
    const hasCalls = calls.length > 0 || asObject(fields.function_call) !== undefined;
    const message = {
      role: 'assistant',
      ...fields,
      content: isEmpty ? (hasCalls ? null : '') : content,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    return { index: this.index, message, ...end };
  }

  #collect(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (piece.type === 'call') this.#calls[piece.index] = { piece, text: '' };
      const call = piece.type === 'arguments' ? this.#calls[piece.index] : undefined;
      if (call && piece.type === 'arguments') call.text += piece.text;
    }
  }

  #callOf({ piece: { id, name }, text }: AssembledCall): Json {
    const extra = this.#extras.get(id);
    const args = text.trim() === '' ? '{}' : text;
    return {
      id,
      type: 'function',
      function: { name, arguments: args },
      ...(extra === undefined ? {} : { extra_content: extra }),
    };
  }
}

/** Fields whose last value counts although it is a text. */
const REPLACED: ReadonlySet<string> = new Set(['id', 'type', 'role', 'name']);

/** Merges a part of a streamed value: texts and lists grow, objects field by field, anything else is replaced. */
function merged(before: unknown, more: unknown): unknown {
  if (more === undefined || more === null) return before ?? more;
  if (typeof before === 'string' && typeof more === 'string') return before + more;
  if (Array.isArray(before) && Array.isArray(more)) return [...before, ...more];
  const [into, from] = [asObject(before), asObject(more)];
  if (into === undefined || from === undefined) return more;
  const all = { ...into };
  for (const [name, value] of Object.entries(from))
    all[name] = REPLACED.has(name) ? (value ?? all[name]) : merged(all[name], value);
  return all;
}
