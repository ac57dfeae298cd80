import { describe, expect, it } from 'vitest';
import { SseParser, sseEvents } from './sse.ts';

const data = (parser: SseParser, text: string): string[] => parser.push(text).map((event) => event.data);

describe('SseParser', () => {
  it('gives an event only when its blank line has come, wherever the text is cut', () => {
    const text = 'id: 7\nevent: slot\ndata: {"a":1}\n\ndata: [DONE]\n\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parser = new SseParser();
      const events = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
      expect(events).toEqual([
        { event: 'slot', data: '{"a":1}', id: '7' },
        { event: 'message', data: '[DONE]', id: '7' },
      ]);
    }
  });

  it('takes CRLF and CR, also when a CRLF is cut in two', () => {
    expect(data(new SseParser(), 'data: a\r\n\r\ndata: b\r\n\r\n')).toEqual(['a', 'b']);
    const parser = new SseParser();
    expect([...data(parser, 'data: a\r'), ...data(parser, '\n\r'), ...data(parser, '\n')]).toEqual(['a']);
    expect(data(new SseParser(), 'data: a\rdata: b\r\rx')).toEqual(['a\nb']);
  });

  it('joins data lines, skips comments and unknown fields, keeps inner spaces', () => {
    expect(data(new SseParser(), ': keep-alive\n\nretry: 5\ndata:  two\ndata\n\n')).toEqual([' two\n']);
  });

  it('rejects an event that is too long', () => {
    const parser = new SseParser();
    expect(() => parser.push(`data: ${'x'.repeat(1_048_577)}`)).toThrow('1 MiB');
  });
});

describe('sseEvents', () => {
  it('decodes characters that are cut in two', async () => {
    const bytes = new TextEncoder().encode('data: Grüße 🙂\n\n');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const seen: string[] = [];
    for await (const event of sseEvents(body)) seen.push(event.data);
    expect(seen).toEqual(['Grüße 🙂']);
  });

  it('reports the last id, also for a block without data', async () => {
    const text = 'id: 41\n\nid: 42\nevent: slot\ndata: {}\n\nid: 43\n';
    const ids: (string | null)[] = [];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const line of text.split(/(?<=\n\n)/)) controller.enqueue(new TextEncoder().encode(line));
        controller.close();
      },
    });
    for await (const _ of sseEvents(body, (id) => ids.push(id)));
    expect(ids).toEqual(['41', '42', '42']);
  });
});
