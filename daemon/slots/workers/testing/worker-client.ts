import { afterAll, beforeAll, expect } from 'vitest';
import { type TinyChatOptions, tinyChat } from '../../../models/testing/gguf/tiny-chat.ts';
import type { WorkerConfig } from '../protocol.ts';
import { type ForkedWorker, forkWorker, modelFile, readEvents } from './forked-worker.ts';

export const CHAT = '/v1/chat/completions';
export const TEXT = '/v1/completions';

/** One user message. */
export const user = (content: unknown) => [{ role: 'user', content }];

export interface CallView {
  index?: number;
  id?: string;
  type?: string;
  function: { name?: string; arguments: string };
}

export interface MessageView {
  role?: string;
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: CallView[];
}

export interface ChoiceView {
  index: number;
  text?: string;
  message?: MessageView;
  delta?: MessageView;
  finish_reason: string | null;
  logprobs?: {
    content?: { token: string; logprob: number; top_logprobs: { token: string; logprob: number }[] }[];
    tokens?: string[];
    token_logprobs?: number[];
    text_offset?: number[];
  } | null;
}

export interface AnswerView {
  status: number;
  choices: ChoiceView[];
  usage?: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details: { cached_tokens: number };
  };
  timings?: { predicted_n: number; prompt_per_token_ms: number };
  error?: { code: string; message: string; type: string; param: string | null };
}

/** The requests of a test to a worker. */
export interface WorkerClient {
  worker(): ForkedWorker;
  request(path: string, body: object): Promise<AnswerView>;
  /** Returns the chunks of a streamed answer, which must end in `[DONE]`. */
  stream(path: string, body: object): Promise<AnswerView[]>;
}

/** Starts a real worker with a generated model for the tests of one block. */
export function startTestWorker(model: TinyChatOptions, config: Partial<WorkerConfig> = {}): WorkerClient {
  let worker: ForkedWorker | undefined;
  let file: Awaited<ReturnType<typeof modelFile>> | undefined;
  const running = (): ForkedWorker => {
    if (worker === undefined) throw new Error('the worker does not run');
    return worker;
  };
  beforeAll(async () => {
    file = await modelFile(tinyChat(model));
    worker = await forkWorker(file.path, config);
    await worker.ready;
  }, 60_000);
  afterAll(async () => {
    await worker?.stop();
    await file?.remove();
  });
  return {
    worker: running,
    async request(path, body) {
      const response = await running().post(path, body);
      return { ...((await response.json()) as AnswerView), status: response.status };
    },
    async stream(path, body) {
      const response = await running().post(path, { ...body, stream: true });
      const events: string[] = [];
      for await (const event of readEvents(response)) events.push(event);
      expect(events.at(-1)).toBe('[DONE]');
      return events.slice(0, -1).map((event) => JSON.parse(event) as AnswerView);
    },
  };
}

/** Joins the deltas of one choice. */
export function joinDeltas(
  chunks: readonly AnswerView[],
  choice = 0,
): MessageView & { finish: (string | null)[] } {
  const message = {
    content: '',
    reasoning_content: '',
    tool_calls: [] as CallView[],
    finish: [] as (string | null)[],
  };
  for (const { choices } of chunks) {
    for (const { index, delta, finish_reason: finish } of choices) {
      if (index !== choice) continue;
      message.content += delta?.content ?? '';
      message.reasoning_content += delta?.reasoning_content ?? '';
      for (const call of delta?.tool_calls ?? []) addCall(message.tool_calls, call);
      if (finish !== null) message.finish.push(finish);
    }
  }
  return message;
}

function addCall(calls: CallView[], { index = 0, ...call }: CallView): void {
  const known = calls[index];
  if (known === undefined) calls[index] = { ...call, function: { ...call.function } };
  else known.function.arguments += call.function.arguments;
}
