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

/** How each kind of text is emitted. Reasoning is full content of a reasoning item, not a summary. */
const TEXTS: Readonly<Record<TextKind, TextRow>> = {
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
  reasoning: {
    part: (text) => ({ type: 'reasoning_text', text }),
    item: (id, status, content) => ({ id, type: 'reasoning', summary: [], content, status }),
    event: 'response.reasoning_text',
    delta: {},
    done: (text) => ({ text }),
  },
};

/**
 * Creates an item with one text part. `origin` records the source of reasoning in place of a provider's
 * encrypted copy.
 */
export function textItem(kind: TextKind, id: string, origin = ''): Item {
  const row = TEXTS[kind];
  const item: TextRow['item'] = (...parts) => ({
    ...row.item(...parts),
    ...(origin === '' ? {} : { encrypted_content: origin }),
  });
  let text = '';
  const open = (emit: EmitEvent): void =>
    emit('response.content_part.added', { content_index: 0, part: row.part('') });
  return {
    initial: () => item(id, 'in_progress', []),
    add(more, emit) {
      if (text === '') open(emit);
      text += more;
      emit(`${row.event}.delta`, { content_index: 0, delta: more, ...row.delta });
    },
    close(status, emit) {
      emit(`${row.event}.done`, { content_index: 0, ...row.done(text) });
      emit('response.content_part.done', { content_index: 0, part: row.part(text) });
      return item(id, status, [row.part(text)]);
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
 * Creates the item of a tool search that the caller runs. It has no events of its own; its end contains
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
