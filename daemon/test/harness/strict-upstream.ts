import type { RequestListener } from 'node:http';
import { type ReceivedRequest, type StandIn, standIn } from './stand-in.ts';

type Json = Record<string, unknown>;

/** The arguments of the call that the upstream makes, by the name of the first offered tool. */
const ARGUMENTS: Readonly<Record<string, Json>> = {
  bash: { command: 'ls' },
  shell: { commands: ['ls'] },
  local_shell: { command: ['ls'] },
  apply_patch: { type: 'delete_file', path: 'a.txt' },
};
const PARTS: ReadonlySet<unknown> = new Set(['text', 'image_url']);
/** What it says after the result of a call. */
export const STRICT_ANSWER = 'Done.';

const asList = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Returns why a strict provider refuses these messages; null when it does not. */
function fault(messages: readonly Json[], canSee: boolean): string | null {
  const open = new Set<unknown>();
  for (const [at, { role, content, tool_calls: calls, tool_call_id: id }] of messages.entries()) {
    if (role === 'system' && at > 0) return `messages.${at}: system message must be at the beginning`;
    if (role === 'tool' && !open.delete(id)) return `messages.${at}: no call with the id ${String(id)}`;
    if (role !== 'tool' && open.size > 0) return `messages.${at}: a call has no result`;
    if (role === 'user' && messages[at - 1]?.role === 'user') return `messages.${at}: roles must alternate`;
    if (role === 'assistant' && !calls && !content) return `messages.${at}: content is empty`;
    if (role === 'tool' && typeof content !== 'string') return `messages.${at}: content must be a text`;
    for (const { type } of asList(content)) {
      if (!PARTS.has(type)) return `messages.${at}: unknown part ${String(type)}`;
      if (type === 'image_url' && !canSee) return `this model does not support images`;
    }
    for (const call of asList(calls)) open.add(call.id);
  }
  return null;
}

function answer({ messages, tools, model }: Json): Json {
  const list = asList(messages);
  const last = list.findLast(({ content }) => !String(content).startsWith('<system-reminder>'));
  const name = String((asList(tools)[0]?.function as Json | undefined)?.name ?? '');
  const called = { name, arguments: JSON.stringify(ARGUMENTS[name] ?? { zone: 'UTC' }) };
  const calls = [{ id: `call_${list.length}`, type: 'function', function: called }];
  const message =
    last?.role === 'tool' || name === ''
      ? { role: 'assistant', content: STRICT_ANSWER }
      : { role: 'assistant', content: null, tool_calls: calls };
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'tool_calls' in message ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

const json =
  (status: number, body: Json): RequestListener =>
  (_, res) => {
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(JSON.stringify(body));
  };

function respond({ url, body }: ReceivedRequest): RequestListener {
  if (!url.endsWith('/chat/completions')) {
    const blind = { architecture: { input_modalities: ['text'], output_modalities: ['text'] } };
    const list = [{ id: 'strict', ...blind }, { id: 'strict-unlisted' }, { id: 'strict-vision' }];
    return json(200, { object: 'list', data: list.map((each) => ({ object: 'model', ...each })) });
  }
  const chat = JSON.parse(body) as Json;
  const message = fault(asList(chat.messages), chat.model === 'strict-vision');
  return message === null
    ? json(200, answer(chat))
    : json(400, { error: { message, type: 'invalid_request_error', code: null, param: null } });
}

/**
 * Starts an upstream that refuses what any provider or chat template refuses. `strict` is listed without
 * vision, `strict-unlisted` has none and does not say so, `strict-vision` reads images.
 */
export const strictUpstream = (): Promise<StandIn> => standIn(respond);
