import { chatLogprobs, type TokenLogprob, textLogprobs } from './logprobs.ts';
import type { CallKind, Piece } from './tools/pieces.ts';
import { type Counts, timings, usage } from './usage.ts';

export type Finish = 'stop' | 'length' | 'tool_calls' | 'function_call';

/** Fields that all chunks of one answer share. */
export interface AnswerHead {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
}

/** One choice of a non-streamed answer. */
export interface WholeChoice {
  index: number;
  text: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string; kind?: CallKind }[];
  logprobs: TokenLogprob[] | null;
  finish: Finish;
  /** The stop string that ended the choice. */
  stop?: string;
}

/** How a choice ended. */
export type ChoiceEnd = Pick<WholeChoice, 'finish' | 'stop'> & { counts: Counts };

/** The part of a chunk that belongs to one choice. */
export interface Part {
  choice: number;
  /** Null when the part holds only probabilities. */
  piece: Piece | null;
  logprobs: TokenLogprob[] | null;
  /** Length of this choice's text before this part. */
  offset: number;
}

/** Builds an answer of one API, complete or in chunks. */
export interface Dialect {
  /** First chunk of a choice, or null when the API has none. */
  opening(head: AnswerHead, choice: number): object | null;
  part(head: AnswerHead, part: Part): object;
  finish(head: AnswerHead, choice: number, end: ChoiceEnd): object;
  usage(head: AnswerHead, counts: Counts): object;
  whole(head: AnswerHead, choices: readonly WholeChoice[], counts: Counts): object;
}

const chunk = (head: AnswerHead, object: string): object => ({
  id: head.id,
  object,
  created: head.created,
  model: head.model,
});

interface Choice {
  index: number;
  finish_reason?: Finish;
  logprobs?: object | null;
  [content: string]: unknown;
}

/**
 * The stop string that ended the choice, under vLLM's field name: clients need it to distinguish a stop
 * string from the end of a turn.
 */
const stopReason = (stop: string | undefined): object => (stop === undefined ? {} : { stop_reason: stop });

const CHAT_CHUNK = 'chat.completion.chunk';
const TEXT = 'text_completion';

const withChoice = (head: AnswerHead, object: string, choice: Choice): object => ({
  ...chunk(head, object),
  choices: [{ finish_reason: null, logprobs: null, ...choice }],
});

const usageChunk = (head: AnswerHead, object: string, counts: Counts): object => ({
  ...chunk(head, object),
  choices: [],
  usage: usage(counts),
  timings: timings(counts),
});

/** The fields that a piece adds to a chat message. */
function delta(piece: Piece | null): object {
  if (piece === null) return {};
  if (piece.type === 'text') return { content: piece.text };
  if (piece.type === 'reasoning') return { reasoning_content: piece.text };
  const { index, kind } = piece;
  if (piece.type === 'arguments') return callFields(piece.text, kind, { index });
  const { id, name } = piece;
  return callFields('', kind, { index, id, name });
}

/** The fields of a call, or of the part of one. */
function callFields(
  args: string,
  kind: CallKind = 'function',
  { name, ...head }: { index?: number; id?: string; name?: string },
): object {
  const named = name === undefined ? {} : { name };
  if (kind === 'legacy') return { function_call: { ...named, arguments: args } };
  const type = name === undefined ? {} : { type: kind };
  const called =
    kind === 'custom' ? { custom: { ...named, input: args } } : { function: { ...named, arguments: args } };
  return { tool_calls: [{ ...head, ...type, ...called }] };
}

/** Joins the fields of two calls. */
function joined(before: Record<string, unknown>, next: object): Record<string, unknown> {
  const { tool_calls: calls = [] } = before as { tool_calls?: unknown[] };
  const { tool_calls: more = [] } = next as { tool_calls?: unknown[] };
  return { ...before, ...next, ...(more.length === 0 ? {} : { tool_calls: [...calls, ...more] }) };
}

function message({ text, reasoning, calls }: WholeChoice): object {
  return {
    role: 'assistant',
    content: calls.length > 0 && text === '' ? null : text,
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...calls
      .map(({ arguments: args, kind, id, name }) => callFields(args, kind, { id, name }))
      .reduce<Record<string, unknown>>(joined, {}),
  };
}

/** `POST /v1/chat/completions`. */
export const CHAT: Dialect = {
  opening: (head, index) =>
    withChoice(head, CHAT_CHUNK, { index, delta: { role: 'assistant', content: '' } }),
  part: (head, { choice, piece, logprobs }) =>
    withChoice(head, CHAT_CHUNK, {
      index: choice,
      delta: delta(piece),
      ...(logprobs === null ? {} : { logprobs: chatLogprobs(logprobs) }),
    }),
  finish: (head, index, { finish, stop, counts }) => ({
    ...withChoice(head, CHAT_CHUNK, { index, delta: {}, finish_reason: finish, ...stopReason(stop) }),
    timings: timings(counts),
  }),
  usage: (head, counts) => usageChunk(head, CHAT_CHUNK, counts),
  whole: (head, choices, counts) => ({
    ...chunk(head, 'chat.completion'),
    choices: choices.map((choice) => ({
      index: choice.index,
      message: message(choice),
      finish_reason: choice.finish,
      ...stopReason(choice.stop),
      logprobs: choice.logprobs === null ? null : chatLogprobs(choice.logprobs),
    })),
    usage: usage(counts),
    timings: timings(counts),
  }),
};

/** `POST /v1/completions`, which supports text only. */
export const COMPLETION: Dialect = {
  opening: () => null,
  part: (head, { choice, piece, logprobs, offset }) =>
    withChoice(head, TEXT, {
      index: choice,
      text: piece?.type === 'text' ? piece.text : '',
      ...(logprobs === null ? {} : { logprobs: textLogprobs(logprobs, offset) }),
    }),
  finish: (head, index, { finish, stop, counts }) => ({
    ...withChoice(head, TEXT, { index, text: '', finish_reason: finish, ...stopReason(stop) }),
    timings: timings(counts),
  }),
  usage: (head, counts) => usageChunk(head, TEXT, counts),
  whole: (head, choices, counts) => ({
    ...chunk(head, TEXT),
    choices: choices.map(({ index, text, finish, logprobs, stop }) => ({
      index,
      text,
      finish_reason: finish,
      ...stopReason(stop),
      logprobs: logprobs === null ? null : textLogprobs(logprobs, 0),
    })),
    usage: usage(counts),
    timings: timings(counts),
  }),
};
