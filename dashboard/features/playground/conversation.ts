import type { FailurePicture } from '../../api/api-error.ts';

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
}

/** What is sent beside the messages; null and blank mean "as the gateway has it". */
export interface Parameters {
  system: string;
  temperature: number | null;
  topP: number | null;
  maxTokens: number | null;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly draft: string;
  readonly model: string | null;
  readonly parameters: Parameters;
}

export const FRESH: Conversation = {
  turns: [],
  draft: '',
  model: null,
  parameters: { system: '', temperature: null, topP: null, maxTokens: null },
};

const MOST_TURNS = 200;

/** A turn as it begins. */
export function turn(id: number, role: Turn['role'], model: string, content = ''): Turn {
  const state = role === 'user' ? 'done' : 'streaming';
  return { id, role, content, reasoning: '', state, model, failure: null, facts: null };
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

/** Turns without the last answer, ready to be asked once more; null when there is nothing to ask again. */
export function beforeLastAnswer(turns: readonly Turn[]): Turn[] | null {
  const last = turns.at(-1);
  return last?.role === 'assistant' && turns.length > 1 ? turns.slice(0, -1) : null;
}

/** The body of the chat request for these turns; answers without text are left out. */
export function bodyOf(
  turns: readonly Turn[],
  model: string,
  parameters: Parameters,
): Record<string, unknown> {
  const system = parameters.system.trim();
  const said = turns.filter((row) => row.content !== '').map(({ role, content }) => ({ role, content }));
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...said],
    ...(parameters.temperature === null ? {} : { temperature: parameters.temperature }),
    ...(parameters.topP === null ? {} : { top_p: parameters.topP }),
    ...(parameters.maxTokens === null ? {} : { max_tokens: parameters.maxTokens }),
    stream: true,
    stream_options: { include_usage: true },
  };
}
