import type OpenAI from 'openai';
import { expect } from 'vitest';
import { user } from '../../../daemon/test/harness/openai.ts';

/** The end token of the tiny model. Without it an answer runs to its limit. */
export const NO_END = { logit_bias: { '4': -100 } };

type Options = Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>;

/** Chats with a tiny model through the client of OpenAI, which `client` returns once it is made. */
export class TinyChats {
  readonly #client: () => OpenAI;
  readonly #model: string;

  constructor(client: () => OpenAI, model: string) {
    this.#client = client;
    this.#model = model;
  }

  #body = (prompt: string) => ({
    model: this.#model,
    messages: [user(prompt)],
    temperature: 0,
    max_tokens: 16,
  });

  chat = (prompt: string, options: Options = {}): Promise<OpenAI.ChatCompletion> =>
    this.#client().chat.completions.create({ ...this.#body(prompt), ...options });

  /** Expects that a stream has the text and the token count of the plain answer. */
  async expectEqualStream(): Promise<void> {
    const plain = await this.chat('hello');
    const stream = await this.#client().chat.completions.create({
      ...this.#body('hello'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(plain.choices[0]?.message.content);
    expect(usage?.completion_tokens).toBe(plain.usage?.completion_tokens);
  }

  /** Disconnects in the middle of a stream of `tokens`. Returns the request id of the gateway. */
  async leave(tokens: number): Promise<string | null> {
    const leaving = new AbortController();
    const { data: stream, response } = await this.#client()
      .chat.completions.create(
        { ...this.#body('hello'), ...NO_END, stream: true, max_tokens: tokens },
        { signal: leaving.signal },
      )
      .withResponse();
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    leaving.abort();
    return response.headers.get('x-request-id');
  }
}
