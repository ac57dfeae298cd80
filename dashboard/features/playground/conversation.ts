import type { FailureInfo } from '../../api/api-error.ts';
import { callsWithResults, type ToolCall, toolsOf } from './tool-calls.ts';

/** Measurements of an answer; times in milliseconds. */
export interface Facts {
  slot: string | null;
  degraded: string | null;
  requestId: string | null;
  firstTokenMs: number | null;
  totalMs: number;
  promptTokens: number | null;
  tokens: number | null;
  tokensPerSecond: number | null;
  /** Whether the answer ended at the token limit. */
  limited: boolean;
}

export interface Turn {
  readonly id: number;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly reasoning: string;
  readonly state: 'done' | 'streaming' | 'stopped' | 'cut' | 'failed';
  readonly model: string;
  readonly failure: FailureInfo | null;
  readonly facts: Facts | null;
  /** Data URLs of the images that were sent with it. */
  readonly images: readonly string[];
  /** Number of images that a reload removed. */
  readonly removedImages: number;
  /** Tool calls of this answer. */
  readonly calls: readonly ToolCall[];
}

/** Request parameters in addition to the messages. Null and blank mean the default of the gateway. */
export interface Parameters {
  system: string;
  temperature: number | null;
  topP: number | null;
  maxTokens: number | null;
  /** A JSON list as typed. */
  tools: string;
  /** Whether the gateway offers its built-in tools: images, speech, transcription and memory. */
  omni: boolean;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly draft: string;
  /** Images of the draft. */
  readonly images: readonly string[];
  readonly model: string | null;
  readonly parameters: Parameters;
}

export const FRESH: Conversation = {
  turns: [],
  draft: '',
  images: [],
  model: null,
  parameters: { system: '', temperature: null, topP: null, maxTokens: null, tools: '', omni: false },
};

const MAX_TURNS = 200;

/** Creates a turn in its initial state. */
export function turn(
  id: number,
  role: Turn['role'],
  model: string,
  content = '',
  images: readonly string[] = [],
): Turn {
  const state = role === 'user' ? 'done' : 'streaming';
  const made = { failure: null, facts: null, removedImages: 0, calls: [] };
  return { id, role, content, reasoning: '', state, model, images, ...made };
}

/** The id for the next turn. */
export function nextId(turns: readonly Turn[]): number {
  return (turns.at(-1)?.id ?? 0) + 1;
}

/** Appends turns and drops the oldest beyond the maximum. */
export function withTurns(turns: readonly Turn[], more: readonly Turn[]): Turn[] {
  return [...turns, ...more].slice(-MAX_TURNS);
}

/** The list with one turn changed. */
export function withChange(turns: readonly Turn[], id: number, change: Partial<Turn>): Turn[] {
  return turns.map((row) => (row.id === id ? { ...row, ...change } : row));
}

/** Marks streaming turns as stopped, for turns whose request no longer runs. */
export function atRest(turns: readonly Turn[]): Turn[] {
  return turns.map((row) => (row.state === 'streaming' ? { ...row, state: 'stopped' } : row));
}

/** The turns without the last answer, for a retry; null when there is nothing to retry. */
export function beforeLastAnswer(turns: readonly Turn[]): Turn[] | null {
  const last = turns.at(-1);
  return last?.role === 'assistant' && turns.length > 1 ? turns.slice(0, -1) : null;
}

/** Message content: a list of parts when there are images, else a string. */
function contentOf({ content, images }: Turn): unknown {
  if (images.length === 0) return content;
  const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }));
  return [...(content === '' ? [] : [{ type: 'text', text: content }]), ...parts];
}

/** The messages of one turn: none for an empty answer, several for one with tool results. */
function messagesOf(row: Turn): unknown[] {
  const called = row.role === 'assistant' ? callsWithResults(row.calls) : null;
  if (called !== null)
    return [{ role: 'assistant', content: row.content || null, tool_calls: called.calls }, ...called.results];
  return row.content === '' && row.images.length === 0 ? [] : [{ role: row.role, content: contentOf(row) }];
}

/** The body of the chat request for these turns; omits empty answers. */
export function bodyOf(
  turns: readonly Turn[],
  model: string,
  parameters: Parameters,
): Record<string, unknown> {
  const system = parameters.system.trim();
  const messages = turns.flatMap(messagesOf);
  const { tools } = toolsOf(parameters.tools);
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    ...(parameters.temperature === null ? {} : { temperature: parameters.temperature }),
    ...(parameters.topP === null ? {} : { top_p: parameters.topP }),
    ...(parameters.maxTokens === null ? {} : { max_tokens: parameters.maxTokens }),
    ...(tools === null ? {} : { tools }),
    ...(parameters.omni ? { omni: true } : {}),
    stream: true,
    stream_options: { include_usage: true },
  };
}
