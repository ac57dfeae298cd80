const SENTENCE = 'The quick "brown" fox\njumps over the lazy dog. ';

/** One system message and `turns` further ones that hold about `bytes` bytes together. */
function messages(bytes: number, turns: number): { role: string; content: string }[] {
  const each = Math.max(24, Math.floor(bytes / turns));
  const content = SENTENCE.repeat(Math.ceil(each / SENTENCE.length)).slice(0, each);
  const said = Array.from({ length: turns }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content,
  }));
  return [{ role: 'system', content: 'You are a helpful assistant.' }, ...said];
}

export interface ChatShape {
  readonly model?: string;
  readonly bytes: number;
  readonly turns: number;
  /** Tokens and microseconds between them; the mock reads them from `max_tokens` and `seed`. */
  readonly stream?: { readonly tokens: number; readonly everyUs: number };
}

/** The body of a chat completion. The model is a slot's name, so that the gateway has to rewrite it. */
export function chatBody({ model = 'agent', bytes, turns, stream }: ChatShape): string {
  const paced = stream && { max_tokens: stream.tokens, seed: stream.everyUs, stream: true };
  return JSON.stringify({ model, messages: messages(bytes, turns), temperature: 0.7, ...paced });
}
