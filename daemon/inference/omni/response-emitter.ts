import type { GatewayError } from '../../contract/errors.ts';
import { SSE_HEADERS, sseComment, sseData } from '../../lib/net/sse.ts';
import type { CallerResponse } from '../caller.ts';
import { asObject, type Json } from '../dialects/json.ts';
import type { TextKind } from '../dialects/piece.ts';
import { decodeName } from '../forward/headers.ts';
import type { ToolCall, ToolResult } from './run-tool.ts';

/** How the last round ended. */
export interface LoopEnd {
  readonly finish: string;
  /** Calls of the caller's own tools. */
  readonly calls: readonly ToolCall[];
  /** Empty when no tokens were counted. */
  readonly usage: Json;
  readonly rounds: number;
  /** The limit of rounds ended the loop before the model did. */
  readonly limited: boolean;
}

/** Emits the events of a loop to one caller. */
export interface ResponseEmitter {
  /** The first round has started, with the headers of its reply. */
  open(headers: Readonly<Record<string, string>>): void;
  /** Resolves when the caller accepts more. */
  text(kind: TextKind, text: string): Promise<void>;
  toolCalled(call: ToolCall): void;
  toolFinished(result: ToolResult): void;
  end(ending: LoopEnd): void;
  /** Reports a failure; false when the head is not sent, so that the route reports it. */
  fail(error: GatewayError): boolean;
  dispose(): void;
}

const FIELDS = { reasoning: 'reasoning_content', text: 'content', refusal: 'refusal' } as const;
const HEARTBEAT_MS = 10_000;

/** Returns the headers of a chat reply that apply to the whole response. */
const svcHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-svc-')));

const asCall = ({ id, name, arguments: text }: ToolCall, index?: number): Json => ({
  ...(index === undefined ? {} : { index }),
  id,
  type: 'function',
  // Clients parse the arguments, and an empty text is not JSON.
  function: { name, arguments: text.trim() === '' ? '{}' : text },
});

const activity = (type: string, { id, name }: ToolCall, more: Json): Json => ({
  omni: { type, id, name, ...more },
});

const resultOf = ({ call, ok, content, ms, attachment }: ToolResult): Json =>
  activity('tool_result', call, { ok, ms, content, ...(attachment === null ? {} : { attachment }) });

const limitOf = (limited: boolean): Json => (limited ? { limit: 'rounds' } : {});

const hasUsage = (usage: Json): boolean => Object.keys(usage).length > 0;

/** The common fields of both response forms. */
class Head {
  readonly created = Math.floor(Date.now() / 1000);
  readonly id: string;
  model = '';
  constructor(id: string) {
    this.id = `chatcmpl-${id.replaceAll('-', '')}`;
  }
  fields(object: string): Json {
    return { id: this.id, object, created: this.created, model: this.model };
  }
}

/** Emits a `chat.completion.chunk` stream; tool activity is in `_svc` of chunks with an empty delta. */
export function streamEmitter(res: CallerResponse, id: string, includeUsage: boolean): ResponseEmitter {
  const head = new Head(id);
  let heartbeat: NodeJS.Timeout | null = null;
  const write = (delta: Json, finish: string | null = null, more: Json = {}): boolean => {
    heartbeat?.refresh();
    const choices = [{ index: 0, delta, finish_reason: finish }];
    return res.write(sseData({ ...head.fields('chat.completion.chunk'), choices, ...more }));
  };
  return {
    open(headers) {
      head.model = decodeName(headers['x-svc-model'] ?? '');
      res.writeHead(200, { ...svcHeaders(headers), ...SSE_HEADERS, 'x-svc-omni': 'on' });
      heartbeat = setInterval(() => void res.write(sseComment('working')), HEARTBEAT_MS);
      write({ role: 'assistant', content: '' });
    },
    async text(kind, text) {
      if (!write({ [FIELDS[kind]]: text }) && !res.destroyed) await drained(res);
    },
    toolCalled: (call) =>
      void write({}, null, { _svc: activity('tool_call', call, { arguments: call.arguments }) }),
    toolFinished: (result) => void write({}, null, { _svc: resultOf(result) }),
    end({ calls, finish, usage, rounds, limited }) {
      if (calls.length > 0) write({ tool_calls: calls.map(asCall) });
      write({}, finish, { _svc: { omni: { type: 'done', rounds, ...limitOf(limited) } } });
      if (includeUsage && hasUsage(usage))
        res.write(sseData({ ...head.fields('chat.completion.chunk'), choices: [], usage }));
      res.end('data: [DONE]\n\n');
    },
    fail(error) {
      if (heartbeat === null) return false;
      res.end(sseData(error.envelope('openai')));
      return true;
    },
    dispose() {
      if (heartbeat) clearInterval(heartbeat);
    },
  };
}

/** Resolves on drain or close. */
const drained = (res: CallerResponse): Promise<void> =>
  new Promise((done) => {
    const over = () => {
      res.removeListener('drain', over);
      res.removeListener('close', over);
      done();
    };
    res.once('drain', over);
    res.once('close', over);
  });

/** Maximum characters of a complete response. */
const MAX_TEXT_LENGTH = 16 * 1024 * 1024;

/** Emits one `chat.completion`; tool activity is in its `_svc`. */
export function bufferedEmitter(res: CallerResponse, id: string): ResponseEmitter {
  const head = new Head(id);
  const texts: Record<string, string> = { content: '' };
  const tools: Json[] = [];
  let first: Readonly<Record<string, string>> = {};
  return {
    open(headers) {
      first = headers;
      head.model = decodeName(headers['x-svc-model'] ?? '');
    },
    async text(kind, text) {
      const field = FIELDS[kind];
      texts[field] = ((texts[field] ?? '') + text).slice(0, MAX_TEXT_LENGTH);
    },
    toolCalled() {},
    toolFinished: (result) =>
      void tools.push({ ...asObject(resultOf(result).omni), arguments: result.call.arguments }),
    end({ calls, finish, usage, rounds, limited }) {
      const own = calls.length > 0 ? { tool_calls: calls.map((call) => asCall(call)) } : {};
      const message = { role: 'assistant', refusal: null, ...texts, content: texts.content || null, ...own };
      const body = {
        ...head.fields('chat.completion'),
        choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
        ...(hasUsage(usage) && { usage }),
        _svc: { omni: { rounds, ...limitOf(limited), tools } },
      };
      const bytes = Buffer.from(JSON.stringify(body));
      const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
      res.writeHead(200, { ...svcHeaders(first), ...headers, 'x-svc-omni': 'on' });
      res.end(bytes);
    },
    fail: () => false,
    dispose() {},
  };
}
