const SENTENCE = 'The quick "brown" fox\njumps over the lazy dog. ';

/** One system message and `turns` further messages with about `bytes` bytes in total. */
function messages(bytes: number, turns: number): { role: string; content: string }[] {
  const each = Math.max(24, Math.floor(bytes / turns));
  const content = SENTENCE.repeat(Math.ceil(each / SENTENCE.length)).slice(0, each);
  const messageList = Array.from({ length: turns }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content,
  }));
  return [{ role: 'system', content: 'You are a helpful assistant.' }, ...messageList];
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

const BOUNDARY = 'bench-boundary-5f1d0a7c2b9e4836';
/** The content type of {@link formBody}. */
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

const partOf = (name: string, more = ''): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;

/** The body of a transcription: the model first, then `bytes` pseudo-random bytes, in which no search finds a match. */
export function formBody(model: string, bytes: number): Buffer {
  const sound = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) sound.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at);
  const file = partOf('file', '; filename="a.wav"\r\nContent-Type: audio/wav');
  const head = `${partOf('model')}${model}\r\n${file}`;
  return Buffer.concat([Buffer.from(head), sound, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

/** The body of a request for `texts` embeddings. The mock returns 64 for any array and one for a single text. */
export const embeddingsBody = (model: string, texts: number): string =>
  JSON.stringify({ model, input: Array.from({ length: texts }, (_, index) => `text ${index}: ${SENTENCE}`) });
