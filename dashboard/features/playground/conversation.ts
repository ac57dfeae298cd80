import type { FailurePicture } from '../../api/api-error.ts';
import { type ToolCall, toldCalls, toolsOf } from './tool-calls.ts';

/** What was measured about an answer; times in milliseconds. */
export interface Facts {
  slot: string | null;
  degraded: string | null;
  requestId: string | null;
  firstTokenMs: number | null;
  totalMs: number;
  promptTokens: number | null;
  tokens: number | null;
  tokensPerSecond: number | null;
  /** It ended because it had reached its limit of tokens, not because it was complete. */
  limited: boolean;
}

export interface Turn {
  readonly id: number;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly reasoning: string;
  readonly state: 'done' | 'streaming' | 'stopped' | 'cut' | 'failed';
  readonly model: string;
  readonly failure: FailurePicture | null;
  readonly facts: Facts | null;
  /** Addresses of the pictures that were sent with it. */
  readonly pictures: readonly string[];
  /** How many there were before a reload, which keeps none. */
  readonly picturesGone: number;
  /** Tools that this answer called. */
  readonly calls: readonly ToolCall[];
}

/** What is sent beside the messages; null and blank mean "as the gateway has it". */
export interface Parameters {
  system: string;
  temperature: number | null;
  topP: number | null;
  maxTokens: number | null;
  /** A list in JSON, as it is typed. */
  tools: string;
  /** The gateway's own tools: it draws, speaks, hears and remembers for the model. */
  omni: boolean;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly draft: string;
  /** Pictures of the message that is being written. */
  readonly pictures: readonly string[];
  readonly model: string | null;
  readonly parameters: Parameters;
}

export const FRESH: Conversation = {
  turns: [],
  draft: '',
  pictures: [],
  model: null,
  parameters: { system: '', temperature: null, topP: null, maxTokens: null, tools: '', omni: false },
};

const MOST_TURNS = 200;

/** A turn as it begins. */
export function turn(
  id: number,
  role: Turn['role'],
  model: string,
  content = '',
  pictures: readonly string[] = [],
): Turn {
  const state = role === 'user' ? 'done' : 'streaming';
  const made = { failure: null, facts: null, picturesGone: 0, calls: [] };
  return { id, role, content, reasoning: '', state, model, pictures, ...made };
}

/** The id for the next turn. */
export function nextId(turns: readonly Turn[]): number {
  return (turns.at(-1)?.id ?? 0) + 1;
}

/** Turns with more at the end; the oldest leave when there are too many. */
export function withTurns(turns: readonly Turn[], more: readonly Turn[]): Turn[] {
  return [...turns, ...more].slice(-MOST_TURNS);
}

/** The list with one turn changed. */
export function withChange(turns: readonly Turn[], id: number, change: Partial<Turn>): Turn[] {
  return turns.map((row) => (row.id === id ? { ...row, ...change } : row));
}

/** The turns as they are once nobody makes their answers any more: what was still coming has stopped. */
export function atRest(turns: readonly Turn[]): Turn[] {
  return turns.map((row) => (row.state === 'streaming' ? { ...row, state: 'stopped' } : row));
}

/** Turns without the last answer, ready to be asked once more; null when there is nothing to ask again. */
export function beforeLastAnswer(turns: readonly Turn[]): Turn[] | null {
  const last = turns.at(-1);
  return last?.role === 'assistant' && turns.length > 1 ? turns.slice(0, -1) : null;
}

/** A message with its pictures as parts, a plain text without. */
function contentOf({ content, pictures }: Turn): unknown {
  if (pictures.length === 0) return content;
  const parts = pictures.map((url) => ({ type: 'image_url', image_url: { url } }));
  return [...(content === '' ? [] : [{ type: 'text', text: content }]), ...parts];
}

/** The messages of one turn: none for an answer that said nothing, several for one whose calls have results. */
function messagesOf(row: Turn): unknown[] {
  const told = row.role === 'assistant' ? toldCalls(row.calls) : null;
  if (told !== null)
    return [{ role: 'assistant', content: row.content || null, tool_calls: told.calls }, ...told.results];
  return row.content === '' && row.pictures.length === 0 ? [] : [{ role: row.role, content: contentOf(row) }];
}

/** The body of the chat request for these turns; answers without text are left out. */
export function bodyOf(
  turns: readonly Turn[],
  model: string,
  parameters: Parameters,
): Record<string, unknown> {
  const system = parameters.system.trim();
  const said = turns.flatMap(messagesOf);
  const { tools } = toolsOf(parameters.tools);
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...said],
    ...(parameters.temperature === null ? {} : { temperature: parameters.temperature }),
    ...(parameters.topP === null ? {} : { top_p: parameters.topP }),
    ...(parameters.maxTokens === null ? {} : { max_tokens: parameters.maxTokens }),
    ...(tools === null ? {} : { tools }),
    ...(parameters.omni ? { omni: true } : {}),
    stream: true,
    stream_options: { include_usage: true },
  };
}
