import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ReceivedRequest, type StandIn, standIn } from '../../../daemon/test/harness/stand-in.ts';

type Json = Record<string, unknown>;

/** A call of a tool that the client offers. */
export interface ScriptedCall {
  readonly name: string;
  readonly args: Json;
}

/** One answer of the model. `hold` writes some text and then nothing until the caller leaves. */
export type ScriptStep =
  | { readonly text: string }
  | { readonly calls: readonly ScriptedCall[] }
  | { readonly hold: string };

export interface ScriptedModel extends StandIn {
  /** Sets the answers of the next conversation, and the text for chats without tools. Forgets what was received. */
  play(steps: readonly ScriptStep[], plain?: string): void;
  /** The bodies of received chats that offer tools, oldest first. */
  chats(): Json[];
  /** Resolves once an answer with `hold` has begun. */
  readonly held: () => boolean;
  /** When the caller left an answer with `hold`, in ms of `performance.now()`; null while it is there. */
  readonly leftAt: () => number | null;
}

export const SCRIPTED_MODEL = 'scripted';
/** Its window in tokens. */
export const SCRIPTED_WINDOW = 65_536;
/** What the model answers to a chat without tools: agents let it write titles and summaries. */
const TITLE = 'Work on a file';

const asList = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** The number of answers with calls in a history: the position in the script. */
const positionOf = (chat: Json): number =>
  asList(chat.messages).filter(
    ({ role, tool_calls: calls }) => role === 'assistant' && asList(calls).length > 0,
  ).length;

const halves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((each) => each !== '');
};

/** The deltas of a streamed answer. Arguments come in two parts. */
function deltasOf(step: ScriptStep, position: number): Json[] {
  if ('text' in step) return halves(step.text).map((content) => ({ content }));
  if ('hold' in step) return [{ content: step.hold }];
  return step.calls.flatMap(({ name, args }, index) => {
    const head = {
      index,
      id: `call_${position}_${index}`,
      type: 'function',
      function: { name, arguments: '' },
    };
    const rest = halves(JSON.stringify(args)).map((part) => ({ index, function: { arguments: part } }));
    return [head, ...rest].map((call) => ({ tool_calls: [call] }));
  });
}

function messageOf(step: ScriptStep, position: number): Json {
  if (!('calls' in step)) return { role: 'assistant', content: 'text' in step ? step.text : step.hold };
  const calls = step.calls.map(({ name, args }, index) => ({
    id: `call_${position}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role: 'assistant', content: null, tool_calls: calls };
}

const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

/** Starts a server of OpenAI's chat API whose model follows a script. It records what it receives and when a caller leaves. */
export async function scriptedModel(): Promise<ScriptedModel> {
  let steps: readonly ScriptStep[] = [];
  let plainText = TITLE;
  let isHeld = false;
  let leftAt: number | null = null;

  const stream = (res: ServerResponse, req: IncomingMessage, step: ScriptStep, position: number) => {
    const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: SCRIPTED_MODEL };
    const send = (value: Json) => res.write(`data: ${JSON.stringify({ ...base, ...value })}\n\n`);
    const chunk = (delta: Json, reason: string | null = null) =>
      send({ choices: [{ index: 0, delta, finish_reason: reason }] });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    chunk({ role: 'assistant', content: '' });
    for (const delta of deltasOf(step, position)) chunk(delta);
    if ('hold' in step) {
      isHeld = true;
      req.socket.once('close', () => {
        leftAt ??= performance.now();
      });
      return;
    }
    chunk({}, 'calls' in step ? 'tool_calls' : 'stop');
    send({ choices: [], usage: USAGE });
    res.end('data: [DONE]\n\n');
  };

  const complete = (res: ServerResponse, step: ScriptStep, position: number) => {
    const reason = 'calls' in step ? 'tool_calls' : 'stop';
    const choices = [{ index: 0, message: messageOf(step, position), finish_reason: reason }];
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: SCRIPTED_MODEL,
        choices,
        usage: USAGE,
      }),
    );
  };

  const respond = ({ url, body }: ReceivedRequest): RequestListener => {
    if (!url.endsWith('/chat/completions')) {
      return (_, res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        const row = { id: SCRIPTED_MODEL, object: 'model', created: 1, context_length: SCRIPTED_WINDOW };
        res.end(JSON.stringify({ object: 'list', data: [row] }));
      };
    }
    const chat = JSON.parse(body) as Json;
    const position = positionOf(chat);
    const offersTools = asList(chat.tools).length > 0;
    const step = (offersTools ? steps[position] : undefined) ?? { text: plainText };
    return (req, res) =>
      chat.stream === true ? stream(res, req, step, position) : complete(res, step, position);
  };

  const server = await standIn(respond);
  return {
    ...server,
    play: (next, plain = TITLE) => {
      steps = next;
      plainText = plain;
      isHeld = false;
      leftAt = null;
      server.requests.length = 0;
    },
    chats: () =>
      server.requests
        .filter(({ url }) => url.endsWith('/chat/completions'))
        .map(({ body }) => JSON.parse(body) as Json)
        .filter(({ tools }) => asList(tools).length > 0),
    held: () => isHeld,
    leftAt: () => leftAt,
  };
}
