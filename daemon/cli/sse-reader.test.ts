import { describe, expect, it } from 'vitest';
import { deltaOf, sseData } from './sse-reader.ts';

async function read(...chunks: string[]): Promise<string[]> {
  async function* feed() {
    for (const chunk of chunks) yield Buffer.from(chunk, 'latin1');
  }
  const out: string[] = [];
  for await (const data of sseData(feed())) out.push(data);
  return out;
}

describe('sseData', () => {
  it('skips comments and other fields, across chunk boundaries', async () => {
    expect(await read(': ping\n\nda', 'ta: {"a":1}\n\nevent: x\r\ndata: [DO', 'NE]\r\n\r\n')).toEqual([
      '{"a":1}',
      '[DONE]',
    ]);
  });
  it('keeps a character that is split between chunks', async () => {
    const bytes = Buffer.from('data: é\n\n').toString('latin1');
    expect(await read(bytes.slice(0, 7), bytes.slice(7))).toEqual(['é']);
  });
});

describe('deltaOf', () => {
  it('reads text and errors', () => {
    expect(deltaOf('{"choices":[{"delta":{"content":"hi"}}]}')).toEqual({ text: 'hi', error: null });
    expect(deltaOf('{"choices":[]}')).toEqual({ text: '', error: null });
    expect(deltaOf('{"error":{"message":"gone"}}')).toEqual({
      text: '',
      error: { code: null, message: 'gone' },
    });
    expect(deltaOf('{"error":{"code":"slot.failed"}}').error?.code).toBe('slot.failed');
  });
});
