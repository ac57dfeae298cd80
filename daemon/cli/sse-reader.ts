const MAX_LINE = 1 << 20;

export interface StreamEvent {
  /** `message` when the sender gave none. */
  event: string;
  data: string;
}

/**
 * Yields the events of an event stream, in order. Skips comments and ids. Throws for a line that is too long.
 */
export async function* sseEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let event = 'message';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > MAX_LINE) throw new Error('a line of the stream is too long');
    const lines = rest.split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') event = 'message';
      if (line.startsWith('event:')) event = line.slice(6).trim();
      if (line.startsWith('data:')) yield { event, data: line.slice(5).trimStart() };
    }
  }
}

/** The `data:` payloads of an event stream, in order. */
export async function* sseData(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const { data } of sseEvents(chunks)) yield data;
}

export interface Delta {
  text: string;
  error: { code: string | null; message: string } | null;
}

/** The text of one chat chunk, or the error that ends the stream. */
export function deltaOf(data: string): Delta {
  const chunk = JSON.parse(data) as {
    error?: { message?: string; code?: string | null };
    choices?: { delta?: { content?: string | null } }[];
  };
  if (chunk.error) {
    const { code = null, message = 'the connection closed before the response ended' } = chunk.error;
    return { text: '', error: { code, message } };
  }
  return { text: chunk.choices?.[0]?.delta?.content ?? '', error: null };
}
