import { asObject, type Json, parsed } from '../json.ts';
import type { TextKind } from '../piece.ts';
import { localShellAction, patchOperation, shellAction } from './client-tools.ts';
import { INPUT_FIELD } from './tools.ts';

type Status = 'in_progress' | 'completed' | 'incomplete';

/** Emits an event about an item: its type and its own fields. */
export type EmitEvent = (type: string, fields: Json) => void;

/** One item of `output` while it grows. Its events let a client build the same item. */
export interface Item {
  add(text: string, emit: EmitEvent): void;
  /** Emits the end of its parts and returns the final item. */
  close(status: Status, emit: EmitEvent): Json;
  /** Returns the item without content. */
  initial(): Json;
}

interface TextRow {
  readonly part: (text: string) => Json;
  readonly item: (id: string, status: Status, content: readonly Json[]) => Json;
  readonly event: string;
  readonly delta: Json;
  readonly done: (text: string) => Json;
}

const message = (id: string, status: Status, content: readonly Json[]): Json => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});

/** How each kind of text in a message is emitted. */
const TEXTS: Readonly<Record<Exclude<TextKind, 'reasoning'>, TextRow>> = {
  text: {
    part: (text) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
    item: message,
    event: 'response.output_text',
    delta: { logprobs: [] },
    done: (text) => ({ text, logprobs: [] }),
  },
  refusal: {
    part: (refusal) => ({ type: 'refusal', refusal }),
    item: message,
    event: 'response.refusal',
    delta: {},
    done: (refusal) => ({ refusal }),
  },
};

const REASONING: TextRow = {
  part: (text) => ({ type: 'reasoning_text', text }),
  item: (id, status, content) => ({ id, type: 'reasoning', summary: [], content, status }),
  event: 'response.reasoning_text',
  delta: {},
  done: (text) => ({ text }),
};

/** Creates an item with one text part. */
export function textItem(kind: keyof typeof TEXTS, id: string): Item {
  return partItem(TEXTS[kind], id);
}

function partItem(row: TextRow, id: string): Item {
  let text = '';
  const open = (emit: EmitEvent): void =>
    emit('response.content_part.added', { content_index: 0, part: row.part('') });
  return {
    initial: () => row.item(id, 'in_progress', []),
    add(more, emit) {
      if (text === '') open(emit);
      text += more;
      emit(`${row.event}.delta`, { content_index: 0, delta: more, ...row.delta });
    },
    close(status, emit) {
      emit(`${row.event}.done`, { content_index: 0, ...row.done(text) });
      emit('response.content_part.done', { content_index: 0, part: row.part(text) });
      return row.item(id, status, [row.part(text)]);
    },
  };
}

export interface ReasoningOptions {
  /** The caller requests a summary: the text is sent as one too. Many clients show nothing else. */
  readonly hasSummary: boolean;
  /** Returns `encrypted_content` for the whole text. Some clients send nothing else back. */
  encrypted(text: string): string;
}

/** Creates an item of reasoning, whose text is its content. */
export function reasoningItem(id: string, { hasSummary, encrypted }: ReasoningOptions): Item {
  const content = partItem(REASONING, id);
  const summary = (text: string): Json => ({ type: 'summary_text', text });
  let text = '';
  return {
    initial: content.initial,
    add(more, emit) {
      if (hasSummary && text === '')
        emit('response.reasoning_summary_part.added', { summary_index: 0, part: summary('') });
      text += more;
      content.add(more, emit);
      if (hasSummary) emit('response.reasoning_summary_text.delta', { summary_index: 0, delta: more });
    },
    close(status, emit) {
      if (hasSummary) {
        emit('response.reasoning_summary_text.done', { summary_index: 0, text });
        emit('response.reasoning_summary_part.done', { summary_index: 0, part: summary(text) });
      }
      const item = content.close(status, emit);
      return { ...item, summary: hasSummary ? [summary(text)] : [], encrypted_content: encrypted(text) };
    },
  };
}

export interface CallNames {
  readonly id: string;
  readonly callId: string;
  /** The name that the caller declared. */
  readonly name: string;
  readonly namespace: string | null;
}

/** Codex identifies a tool by both fields. */
const nameFields = ({ name, namespace }: CallNames): Json =>
  namespace === null ? { name } : { name, namespace };

/** Creates the item of a function call. */
export function functionItem(names: CallNames): Item {
  const { id, callId, name } = names;
  let text = '';
  const item = (status: Status): Json => ({
    id,
    type: 'function_call',
    status,
    arguments: text,
    call_id: callId,
    ...nameFields(names),
  });
  return {
    initial: () => item('in_progress'),
    add(more, emit) {
      text += more;
      emit('response.function_call_arguments.delta', { delta: more });
    },
    close(status, emit) {
      // Clients parse the arguments, and an empty text is not JSON.
      if (status === 'completed' && text.trim() === '') this.add('{}', emit);
      emit('response.function_call_arguments.done', { name, arguments: text });
      return item(status);
    },
  };
}

/**
 * Creates the item of a custom tool call, whose free text is the only argument of a function. Emitted at its
 * end.
 */
export function customItem(names: CallNames): Item {
  const { id, callId } = names;
  let text = '';
  const item = (input: string): Json => ({
    id,
    type: 'custom_tool_call',
    call_id: callId,
    ...nameFields(names),
    input,
  });
  return {
    initial: () => item(''),
    add(more) {
      text += more;
    },
    close(_, emit) {
      const input = asObject(parsed(text))?.[INPUT_FIELD];
      const plain = typeof input === 'string' ? input : text;
      if (plain !== '') emit('response.custom_tool_call_input.delta', { delta: plain });
      emit('response.custom_tool_call_input.done', { input: plain });
      return item(plain);
    },
  };
}

/**
 * Creates the item of a tool search that the caller runs. It has no specific events; its end contains
 * everything.
 */
export function searchItem({ id, callId }: CallNames): Item {
  let text = '';
  const item = (status: Status, args: Json): Json => ({
    id,
    type: 'tool_search_call',
    status,
    execution: 'client',
    call_id: callId,
    arguments: args,
  });
  return {
    initial: () => item('in_progress', {}),
    add(more) {
      text += more;
    },
    close: (status) => item(status, asObject(parsed(text)) ?? { query: text }),
  };
}

/** Makes an item whose call is emitted at its end, because clients read it as a whole. */
const wholeItem =
  (
    type: string,
    fields: (args: Json | undefined, raw: string) => Json,
    statusOf: (status: Status) => Status = (status) => status,
  ) =>
  ({ id, callId }: CallNames): Item => {
    let text = '';
    const item = (status: Status, made: Json): Json => ({
      id,
      type,
      status: statusOf(status),
      call_id: callId,
      ...made,
    });
    return {
      initial: () => item('in_progress', fields({}, '')),
      add(more) {
        text += more;
      },
      close: (status) => item(status, fields(asObject(parsed(text)), text)),
    };
  };

/** Creates the item of a call of `local_shell`. */
export const localShellItem = wholeItem('local_shell_call', (args, raw) => ({
  action: localShellAction(args, raw),
}));

/** Creates the item of a call of `shell` on the computer of the client. */
export const shellItem = wholeItem('shell_call', (args, raw) => ({
  action: shellAction(args, raw),
  environment: { type: 'local' },
}));

/** Creates the item of a call of `apply_patch`, which has no status for an interrupted call. */
export const patchItem = wholeItem(
  'apply_patch_call',
  (args, raw) => ({ operation: patchOperation(args, raw) }),
  (status) => (status === 'in_progress' ? status : 'completed'),
);
